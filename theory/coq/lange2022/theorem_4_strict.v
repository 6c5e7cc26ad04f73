(* Theorem 4, when the centring's inequality is strict: kappa(Hhat U) < kappa(Hhat).

   The text's condition is that mu_H is not orthogonal to an eigenvector x_max of the sample
   covariance to its largest eigenvalue; it is one of four, and implies mu_H <> 0.  With the Gram
   matrix A = (H - e mu_H')' (H - e mu_H') of the centred features it is enough that mu_H <> 0 and
     - mu_H is not orthogonal to an eigenvector to the largest eigenvalue of A,   theorem_4b
     - or to one to the smallest,                               theorem_4b_last_component
     - or N is at least the largest eigenvalue,                 theorem_4b_N_largest
     - or N is at most the smallest,                            theorem_4b_N_smallest
   and up to two features that mu_H <> 0,                       theorem_4b_two_features. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct ConditionNumber Preconditioning.
From BatchNorm.lange2022 Require Import theorem_4_centring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Definitions.
Variables (R : rcfType) (n : nat).

Definition sample_covariance N (H : 'M[R]_(N, n)) : 'M[R]_n :=
  (N%:R - 1)^-1 *: ((centred H (mean H))^T *m centred H (mean H)).
End Definitions.

Section Strict.
Variables (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)).
Hypothesis N_gt0 : (0 < N)%N.
Local Notation Hhat := (augmented H).
Local Notation mu := (mean H).
Local Notation U := (centring mu).
Local Notation C := (centred H mu).
Local Notation A := (C^T *m C).

Variables (K K' : R).
Hypothesis full : full_column_rank Hhat.
Hypothesis before : condition_number Hhat K.
Hypothesis after : condition_number (Hhat *m U) K'.

(* ---- from bounds of the eigenvalues of A to the quotients of Hhat U ---- *)

Lemma gram_quotients a b : at_most_eigenvalues A a -> at_least_eigenvalues A b ->
  forall x : 'cV_n, a * sq x <= sq (C *m x) <= b * sq x.
Proof.
move=> low high x; rewrite -gram_form; apply: (form_within (gram_symmetric C)).
  by move=> l y ey _; rewrite (low _ _ ey) (high _ _ ey).
by move=> y /gram_null/(full_rank_centred full) ->; rewrite dot0r.
Qed.

Lemma least_bound : at_most_eigenvalues A 0.
Proof. by move=> l x ex; apply: eigenvalue_ge0 ex => y; rewrite gram_form sq_ge0. Qed.

Lemma full_quotients a b : quotients_within Hhat a b ->
  forall z : 'cV_(1 + n), a * sq z <= sq (Hhat *m z) <= b * sq z.
Proof. by move=> within z; apply: within => y; exact: full_rank_orthogonal. Qed.

(* ---- an upper or a lower bound that moves strictly inwards makes kappa smaller ---- *)

Lemma strict_if a b a' b' : 0 < a -> b = K ^+ 2 * a -> a <= a' -> b' <= b -> (a < a') || (b' < b) ->
  quotients_within (Hhat *m U) a' b' -> K' < K.
Proof.
move=> a0 bE aa bb strict within; have a'0 := lt_le_trans a0 aa.
have K0 := condition_number_gt0 before; have K'0 := condition_number_gt0 after.
rewrite -ltr_sqr ?nnegrE ?(ltW K0) ?(ltW K'0) // -(ltr_pmul2r a'0).
apply: le_lt_trans (condition_number_le after a'0 within) _.
have K2 : 0 < K ^+ 2 by rewrite exprn_gt0.
case/orP: strict => [less|less].
  by apply: le_lt_trans bb _; rewrite bE ltr_pmul2l.
by apply: lt_le_trans less _; rewrite bE ler_pmul2l.
Qed.

Lemma after_quotients a b l u : at_most_eigenvalues A l -> at_least_eigenvalues A u ->
  a <= N%:R -> a <= l -> N%:R <= b -> u <= b -> quotients_within (Hhat *m U) a b.
Proof.
move=> low high aN al Nb ub z _; have [t [x ->]] := stackE z.
rewrite block_diagonal // sq_stack !mulrDr; have /andP[lo hi] := gram_quotients low high x.
apply/andP; split; apply: ler_add; rewrite ?ler_wpmul2r ?sqr_ge0 //.
  by apply: le_trans lo; rewrite ler_wpmul2r ?sq_ge0.
by apply: le_trans hi _; rewrite ler_wpmul2r ?sq_ge0.
Qed.

(* ---- how the bounds of Hhat's quotients compare with N and with the eigenvalues of A ---- *)

Section Bounds.
Variables (a b : R).
Hypothesis a_gt0 : 0 < a.
Hypothesis within : quotients_within Hhat a b.

Lemma N_within : a <= N%:R <= b.
Proof.
have := full_quotients within (stack 1 0).
by rewrite augmented_stack mulmx0 addr0 scale1r sq_e sq_stack sq0 addr0 expr1n !mulr1.
Qed.

Lemma eigenvalue_within l x : eigenvector A l x -> a <= l <= b.
Proof.
move=> ex; have [x0 _] := ex; rewrite -sq_gt0 in x0; have Cx := singular_valueE ex.
rewrite -(ler_pmul2r x0) -(ler_pmul2r x0 _ b) -Cx; apply/andP; split.
  by apply: centred_below within _ => //; [exact: ltW|move=> y /(full_rank_centred full) ->;
    rewrite dot0r].
have /andP[_] := full_quotients within (stack 0 x).
rewrite augmented_stack scale0r add0r sq_stack expr0n add0r; apply: le_trans.
by rewrite sq_centred // ler_subl_addr ler_addl mulr_ge0 ?ler0n ?sqr_ge0.
Qed.

(* (30): N is not the largest quotient, for (1, mu_H) has a larger one. *)
Lemma N_below : mu != 0 -> N%:R < b.
Proof.
rewrite -sq_gt0 => m0; have /andP[_ hi] := full_quotients within (stack 1 mu).
have p0 : 0 < 1 + sq mu by rewrite addr_gt0 ?ltr01.
rewrite -(ltr_pmul2r p0) -[X in b * (X + _)](expr1n R 2) -sq_stack; apply: lt_le_trans hi.
rewrite sq_augmented // -/(sq mu) -subr_gt0.
have -> : N%:R * (1 ^+ 2 + 2 * 1 * sq mu) + sq (H *m mu) - N%:R * (1 + sq mu) =
  N%:R * sq mu + sq (H *m mu) by ring.
by rewrite ltr_paddr ?sq_ge0 // mulr_gt0 // NR_gt0.
Qed.

(* Nor the smallest: (1, - d mu_H) has a smaller one, d > 0 small. *)
Lemma N_above : mu != 0 -> a < N%:R.
Proof.
rewrite -sq_gt0 => m0; have /andP[aN _] := N_within; rewrite lt_neqAle aN andbT.
apply/eqP => aE; set s := sq mu in m0 *; set h := sq (H *m mu).
have h0 : 0 <= h by apply: sq_ge0.
have Ns : 0 < N%:R * s by rewrite mulr_gt0 // NR_gt0.
pose d := N%:R * s / (h + 1).
have h1 : 0 < h + 1 by rewrite ltr_paddl ?ltr01.
have d0 : 0 < d by rewrite divr_gt0.
have /andP[lo _] := full_quotients within (stack 1 (- d *: mu)).
have := lo; rewrite sq_augmented // sq_stack -scalemxAr !(sqZ (- d)) dotZr -/(sq mu) -/s -/h aE.
rewrite -subr_ge0; apply/negP; rewrite -ltNge.
have -> : N%:R * (1 ^+ 2 + 2 * 1 * (- d * s)) + (- d) ^+ 2 * h - N%:R * (1 ^+ 2 + (- d) ^+ 2 * s) =
  - (d * ((2 * (N%:R * s) - d * h) + d * (N%:R * s))) by ring.
rewrite oppr_lt0 mulr_gt0 //; apply: ltr_paddr; first by rewrite mulr_ge0 ?ltW.
rewrite subr_gt0; have dh : d * h <= N%:R * s.
  by rewrite /d mulrAC ler_pdivr_mulr // ler_wpmul2l ?(ltW Ns) // ler_addl ler01.
apply: le_lt_trans dh _; rewrite -subr_gt0.
by have -> : 2 * (N%:R * s) - N%:R * s = N%:R * s by ring.
Qed.

(* (31): an eigenvector that is not orthogonal to the mean has a larger quotient before, *)
Lemma eigenvalue_below l x : eigenvector A l x -> dot mu x != 0 -> l < b.
Proof.
move=> ex m0; have [x0 _] := ex; rewrite -sq_gt0 in x0.
rewrite -(ltr_pmul2r x0) -(singular_valueE ex) sq_centred //.
have /andP[_] := full_quotients within (stack 0 x).
rewrite augmented_stack scale0r add0r sq_stack expr0n add0r; apply: lt_le_trans.
by rewrite ltr_subl_addr ltr_addl mulr_gt0 ?NR_gt0 // lt_def sqrf_eq0 m0 sqr_ge0.
Qed.
(* and is the image of a longer vector. *)
Lemma eigenvalue_above l x : eigenvector A l x -> dot mu x != 0 -> a < l.
Proof.
move=> ex m0; have [x0 _] := ex; rewrite -sq_gt0 in x0.
rewrite -(ltr_pmul2r x0) -(singular_valueE ex).
have /andP[lo _] := full_quotients within (stack (- dot mu x) x).
rewrite augmented_lifted sq_stack in lo; apply: lt_le_trans lo.
by rewrite ltr_pmul2l // ltr_addr sqrrN lt_def sqrf_eq0 m0 sqr_ge0.
Qed.
End Bounds.

Lemma mean_neq0 (x : 'cV_n) : dot mu x != 0 -> mu != 0.
Proof. by apply: contraNneq => ->; rewrite dot0l. Qed.

(* ---- the four conditions, with the Gram matrix A ---- *)

Lemma strict_above : (forall a b, 0 < a -> quotients_within Hhat a b ->
    exists2 u, at_least_eigenvalues A u & (u < b) && (N%:R < b)) -> K' < K.
Proof.
move=> moves; have [a [b [a0 b0 bE within]]] := condition_number_quotients before.
have [u high /andP[ub Nb]] := moves _ _ a0 within; have /andP[aN _] := N_within within.
pose b' := Num.max N%:R u; have b'b : b' < b by rewrite lt_maxl Nb ub.
apply: (strict_if a0 bE (lexx a) (ltW b'b)); first by rewrite b'b orbT.
apply: (after_quotients (l := a)) high aN (lexx a) _ _; rewrite ?le_maxr ?lexx ?orbT //.
by move=> l x /(eigenvalue_within a0 within)/andP[].
Qed.

Lemma strict_below : (forall a b, 0 < a -> quotients_within Hhat a b ->
    exists2 l, at_most_eigenvalues A l & (a < l) && (a < N%:R)) -> K' < K.
Proof.
move=> moves; have [a [b [a0 b0 bE within]]] := condition_number_quotients before.
have [l low /andP[al aN]] := moves _ _ a0 within; have /andP[_ Nb] := N_within within.
pose a' := Num.min N%:R l; have aa' : a < a' by rewrite lt_minr aN al.
apply: (strict_if a0 bE (ltW aa') (lexx b)); first by rewrite aa'.
apply: (after_quotients (u := b)) low _ _ _ Nb (lexx b); rewrite ?le_minl ?lexx ?orbT //.
by move=> u x /(eigenvalue_within a0 within)/andP[].
Qed.

Lemma gram_largest x : largest_eigenvector A x -> dot mu x != 0 -> K' < K.
Proof.
move=> [u ex high] m0; apply: strict_above => a b a0 within; exists u => //.
by rewrite (eigenvalue_below within ex) // (N_below within) // (mean_neq0 m0).
Qed.

Lemma gram_smallest x : smallest_eigenvector A x -> dot mu x != 0 -> K' < K.
Proof.
move=> [l ex low] m0; apply: strict_below => a b a0 within; exists l => //.
by rewrite (eigenvalue_above a0 within ex) // (N_above within) // (mean_neq0 m0).
Qed.

Lemma N_largest : mu != 0 -> at_least_eigenvalues A N%:R -> K' < K.
Proof.
move=> m0 high; apply: strict_above => a b a0 within; exists N%:R => //.
by rewrite (N_below within).
Qed.

Lemma N_smallest : mu != 0 -> at_most_eigenvalues A N%:R -> K' < K.
Proof.
move=> m0 low; apply: strict_below => a b a0 within; exists N%:R => //.
by rewrite (N_above within).
Qed.

Lemma two_features : (n <= 2)%N -> mu != 0 -> K' < K.
Proof.
move=> n2 m0; have [Q [d [o E form im eig]]] := in_eigenbasis (gram_symmetric C).
pose x i : 'cV_n := Q *m delta_mx i 0.
have [i mi] : exists i, dot mu (x i) != 0.
  apply/existsP; apply: contraNT m0; rewrite negb_exists => /forallP z.
  rewrite -sq_eq0 E; apply/eqP/big1 => i _; have := z i; rewrite negbK /x dotC dot_mul dotC.
  by rewrite dot_delta => /eqP ->; rewrite expr0n.
have spectrum l y : eigenvector A l y -> exists j, l = d j.
  move=> [y0 Ay]; have [j zj] : exists j, (Q^T *m y) j 0 != 0.
    apply/existsP; apply: contraNT y0; rewrite negb_exists => /forallP z.
    rewrite -sq_eq0 E; apply/eqP/big1 => j _.
    by have := z j; rewrite negbK => /eqP ->; rewrite expr0n.
  by exists j; have := im y j; rewrite Ay -scalemxAr mxE => /(mulIf zj).
have [/forallP top|/forallPn[j dj]] := boolP [forall j, d j <= d i].
  apply: gram_largest mi; exists (d i); first exact: eig.
  by move=> l y /spectrum[j ->].
apply: gram_smallest mi; exists (d i); first exact: eig.
rewrite -ltNge in dj; move=> l y /spectrum[k ->].
have [->//|ki] := eqVneq k i; suff -> : k = j by apply: ltW.
have ij : i != j by apply: contraTneq dj => ->; rewrite ltxx.
apply/val_inj => /=; move: ki ij; rewrite -!val_eqE /=.
by case: (nat_of_ord i) (ltn_ord i) (nat_of_ord j) (ltn_ord j) (nat_of_ord k) (ltn_ord k)
  n2 => [|[|?]] + [|[|?]] + [|[|?]] +; case: n => [|[|[|?]]].
Qed.

Lemma principal_component x : largest_eigenvector (sample_covariance H) x ->
  mu != 0 -> dot mu x != 0 ->
  K' < K.
Proof.
move=> [l [x0 Sx] high] _; apply: gram_largest.
have n0 : (0 < n)%N.
  case: (posnP n) x0 => // n0; case/negP; apply/eqP/matrixP => i.
  by exfalso; have := ltn_ord i; rewrite [X in (_ < X)%N]n0.
have N1 : (1 < N)%N.
  apply: leq_trans (_ : 1 + n <= N)%N; first by rewrite add1n ltnS.
  by rewrite -full rank_leq_row.
have c0 : 0 < N%:R - 1 :> R by rewrite subr_gt0 ltr1n.
exists ((N%:R - 1) * l).
  split=> //; have := congr1 (fun v => (N%:R - 1) *: v) Sx.
  by rewrite -scalemxAl !scalerA mulfV ?scale1r // gt_eqF.
move=> u y [y0 Ay]; rewrite -ler_pdivr_mull //; apply: (high _ y); split=> //.
by rewrite -scalemxAl Ay scalerA.
Qed.
End Strict.

(* Theorem 4, after the first display: mu_H is not orthogonal to the principal component. *)
Theorem theorem_4b (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) (K K' : R) x :
  let Hhat := augmented H in let mu := mean H in
  (0 < N)%N -> full_column_rank Hhat ->
  mu != 0 -> largest_eigenvector (sample_covariance H) x -> dot mu x != 0 ->
  condition_number Hhat K -> condition_number (Hhat *m centring mu) K' -> K' < K.
Proof.
by move=> Hhat mu N0 full m0 ex mx kH kU; exact: (principal_component N0 full kH kU ex m0 mx).
Qed.

(* Not orthogonal to the last component. *)
Theorem theorem_4b_last_component (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) (K K' : R) x :
  let Hhat := augmented H in let mu := mean H in let C := centred H mu in
  (0 < N)%N -> full_column_rank Hhat ->
  smallest_eigenvector (C^T *m C) x -> dot mu x != 0 ->
  condition_number Hhat K -> condition_number (Hhat *m centring mu) K' -> K' < K.
Proof. by move=> Hhat mu C N0 full ex mx kH kU; exact: (gram_smallest N0 full kH kU ex mx). Qed.

Theorem theorem_4b_N_largest (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) (K K' : R) :
  let Hhat := augmented H in let mu := mean H in let C := centred H mu in
  (0 < N)%N -> full_column_rank Hhat ->
  mu != 0 -> at_least_eigenvalues (C^T *m C) N%:R ->
  condition_number Hhat K -> condition_number (Hhat *m centring mu) K' -> K' < K.
Proof. by move=> Hhat mu C N0 full m0 top kH kU; exact: (N_largest N0 full kH kU m0 top). Qed.

Theorem theorem_4b_N_smallest (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) (K K' : R) :
  let Hhat := augmented H in let mu := mean H in let C := centred H mu in
  (0 < N)%N -> full_column_rank Hhat ->
  mu != 0 -> at_most_eigenvalues (C^T *m C) N%:R ->
  condition_number Hhat K -> condition_number (Hhat *m centring mu) K' -> K' < K.
Proof.
by move=> Hhat mu C N0 full m0 bottom kH kU; exact: (N_smallest N0 full kH kU m0 bottom).
Qed.

(* Up to two features the inequality is strict wherever the mean is not zero. *)
Theorem theorem_4b_two_features (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) (K K' : R) :
  let Hhat := augmented H in let mu := mean H in
  (0 < N)%N -> full_column_rank Hhat -> (n <= 2)%N -> mu != 0 ->
  condition_number Hhat K -> condition_number (Hhat *m centring mu) K' -> K' < K.
Proof. by move=> Hhat mu N0 full n2 m0 kH kU; exact: (two_features N0 full kH kU n2 m0). Qed.

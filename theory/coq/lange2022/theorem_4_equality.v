(* Theorem 4, when exactly the centring's inequality is strict, mu_H <> 0.

   A is the Gram matrix (H - e mu_H')' (H - e mu_H') of the centred features, beta and gamma are its
   largest and smallest eigenvalues, and M^+ is the pseudo-inverse of Moore and Penrose.  Then
   kappa(Hhat U) = kappa(Hhat) if and only if mu_H is orthogonal to the eigenvectors of both and

     N beta mu_H' (beta - A)^+ mu_H <= beta - N,   N gamma mu_H' (A - gamma)^+ mu_H <= N - gamma.

   By block_diagonal |Hhat (t, x)|^2 = N (t + mu_H'x)^2 + x'Ax.  With M = beta - A,

     beta |z|^2 - |Hhat z|^2 = beta t^2 + x'Mx - N (t + mu_H'x)^2,

   where (mu_H'x)^2 <= (mu_H'M^+mu_H) x'Mx, with equality at x = M^+ mu_H; and likewise below. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct SpectralTheorem ConditionNumber Preconditioning.
From BatchNorm.lange2022 Require Import theorem_4_centring theorem_4_strict theorem_4_scaling.
From BatchNorm.lange2022 Require Import proposition_11 gradient_descent.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* ---- the pseudo-inverse ---- *)

Section PseudoInverse.
Variables (R : rcfType) (n : nat).
Implicit Types (M B : 'M[R]_n) (x u : 'cV[R]_n).

Definition pseudo_inverse M B :=
  [/\ M *m B *m M = M, B *m M *m B = B, (M *m B)^T = M *m B & (B *m M)^T = B *m M].

Lemma pseudo_inverse_unique M B B' : pseudo_inverse M B -> pseudo_inverse M B' -> B = B'.
Proof.
move=> [mbm bmb mb bm] [mcm cmc mc cm].
have right : M *m B = M *m B'.
  by rewrite -{1}mcm -[LHS]mulmxA -mb -mc -trmx_mul mulmxA mbm.
have left : B *m M = B' *m M.
  by rewrite -{1}mcm -[M *m _ *m M]mulmxA [LHS]mulmxA -bm -cm -trmx_mul -[_ *m (B *m M)]mulmxA
    [M *m (_ *m _)]mulmxA mbm.
by rewrite -bmb left -mulmxA right mulmxA.
Qed.

Lemma pseudo_inverse_symmetric M B : M^T = M -> pseudo_inverse M B -> B^T = B.
Proof.
move=> sym P; apply: (pseudo_inverse_unique _ P); have [mbm bmb mb bm] := P; split.
- by apply: trmx_inj; rewrite !trmx_mul trmxK !sym mulmxA.
- by apply: trmx_inj; rewrite !trmx_mul !trmxK sym mulmxA.
- by rewrite trmx_mul trmxK sym -bm trmx_mul sym.
by rewrite trmx_mul trmxK sym -mb trmx_mul sym.
Qed.

Lemma pseudo_inverse_exists M : M^T = M -> exists B, pseudo_inverse M B.
Proof.
move=> /spectral[Q [d [o ->]]]; pose f D := Q *m diag_mx D *m Q^T.
have product D E : f D *m f E = f (\row_i (D 0 i * E 0 i)).
  rewrite /f !mulmxA -[Q *m diag_mx D *m Q^T *m Q]mulmxA o mulmx1.
  by rewrite -[Q *m _ *m diag_mx E]mulmxA mulmx_diag.
have same (D E : 'rV[R]_n) : (forall i, D 0 i = E 0 i) -> f D = f E.
  by move=> DE; congr f; apply/matrixP => i j; rewrite ord1.
exists (f (\row_i (d 0 i)^-1)); split; rewrite -/(f d) ?product; try apply: same => i; rewrite ?mxE.
- by have [->|d0] := eqVneq (d 0 i) 0; rewrite ?mulr0 // mulfV // mul1r.
- by have [->|d0] := eqVneq (d 0 i) 0; rewrite ?invr0 ?mulr0 // mulVf // mul1r.
- by rewrite /f !trmx_mul trmxK tr_diag_mx mulmxA.
by rewrite /f !trmx_mul trmxK tr_diag_mx mulmxA.
Qed.
End PseudoInverse.

(* A positive semi-definite M, and q = u'M^+u. *)
Section Forms.
Variables (R : rcfType) (n : nat) (M B : 'M[R]_n) (u : 'cV[R]_n).
Hypothesis psd : semidefinite M.
Hypothesis inverse : pseudo_inverse M B.
Local Notation q := (dot u (B *m u)).
Let sym : M^T = M := psd.1.

(* At x = c M^+ u the form is c^2 q, *)
Lemma form_at_inverse c : dot (c *: (B *m u)) (M *m (c *: (B *m u))) = c ^+ 2 * q.
Proof.
have [_ bmb _ _] := inverse; have Bs := pseudo_inverse_symmetric sym inverse.
by rewrite -scalemxAr dotZl dotZr dot_mul Bs !mulmxA bmb mulrA.
Qed.
Lemma inverse_form_ge0 : 0 <= q.
Proof. by have := psd.2 (1 *: (B *m u)); rewrite form_at_inverse expr1n mul1r. Qed.

(* and (u'x)^2 <= q x'Mx where u is orthogonal to the null space. *)
Lemma form_cauchy_schwarz x : (forall y, M *m y = 0 -> dot u y = 0) ->
  dot u x ^+ 2 <= q * dot x (M *m x).
Proof.
move=> ou; have [mbm _ mb _] := inverse; have Bs := pseudo_inverse_symmetric sym inverse.
have uE : M *m (B *m u) = u.
  have bt : B *m M = M *m B by rewrite -mb trmx_mul Bs sym.
  have null : M *m (u - M *m (B *m u)) = 0.
    by rewrite mulmxBr [M *m (B *m u)]mulmxA -bt !mulmxA mbm subrr.
  apply/esym/eqP; rewrite -subr_eq0 -sq_eq0 /sq dotBl ou // dot_mul sym null dot0r.
  by rewrite subrr.
set y := dot u x; set p := dot x _.
have line c : 0 <= p - 2 * c * y + c ^+ 2 * q.
  have := psd.2 (x - c *: (B *m u)); rewrite mulmxBr dotBl !dotBr form_at_inverse.
  have -> : dot x (M *m (c *: (B *m u))) = c * y by rewrite -scalemxAr uE dotZr dotC.
  have -> : dot (c *: (B *m u)) (M *m x) = c * y.
    by rewrite dotZl -{1}sym -dot_mul uE.
  by have -> : p - 2 * c * y + c ^+ 2 * q = p - c * y - (c * y - c ^+ 2 * q) by ring.
have q0 := inverse_form_ge0; have p0 : 0 <= p by apply: psd.2.
have [qz|qn] := eqVneq q 0; last first.
  have qp : 0 < q by rewrite lt_def qn.
  have := line (y / q); rewrite -(pmulr_rge0 _ qp).
  have -> : q * (p - 2 * (y / q) * y + (y / q) ^+ 2 * q) = q * p - y ^+ 2 by field.
  by rewrite subr_ge0.
have [->|y0] := eqVneq y 0; first by rewrite expr0n mulr_ge0.
have := line ((p + 1) / (2 * y)); rewrite qz mulr0 addr0.
have -> : p - 2 * ((p + 1) / (2 * y)) * y = -1 by field.
by rewrite oppr_ge0 leNgt ltr01.
Qed.
End Forms.

Section Extremes.
Variables (R : rcfType) (n : nat) (A : 'M[R]_n).
Hypothesis sym : A^T = A.

(* beta - A, beta being the largest eigenvalue, and A - gamma, gamma being the smallest. *)
Lemma below_largest beta : largest_eigenvalue A beta -> semidefinite (beta%:M - A).
Proof.
move=> [_ high]; split=> [|x]; first by rewrite linearB /= tr_scalar_mx sym.
rewrite mulmxBl mul_scalar_mx dotBr dotZr -/(sq x) subr_ge0.
have [Q [d [o E form im eig]]] := in_eigenbasis sym.
rewrite form E big_distrr; apply: ler_sum => i _ /=.
by rewrite ler_wpmul2r ?sqr_ge0 // (high _ _ (eig i)).
Qed.
Lemma above_smallest gamma : smallest_eigenvalue A gamma -> semidefinite (A - gamma%:M).
Proof.
move=> [_ low]; split=> [|x]; first by rewrite linearB /= tr_scalar_mx sym.
rewrite mulmxBl mul_scalar_mx dotBr dotZr -/(sq x) subr_ge0.
have [Q [d [o E form im eig]]] := in_eigenbasis sym.
rewrite form E big_distrr; apply: ler_sum => i _ /=.
by rewrite ler_wpmul2r ?sqr_ge0 // (low _ _ (eig i)).
Qed.
End Extremes.

(* ---- quadratic forms in t and y = mu_H'x, with p = x'Mx ---- *)

Section Numbers.
Variables (R : rcfType) (k q t y p : R).
Hypotheses (k_gt0 : 0 < k) (q_ge0 : 0 <= q) (p_ge0 : 0 <= p) (bound : y ^+ 2 <= q * p).

(* Where D (form) = (square) + D p - k beta y^2, and k beta q <= D. *)
Lemma form_ge0 beta D f s : 0 < beta -> k * beta * q <= D ->
  D * f = s ^+ 2 + (D * p - k * beta * y ^+ 2) -> (D = 0 -> y = 0 -> 0 <= f) -> 0 <= f.
Proof.
move=> beta0 le E zero; have kb : 0 < k * beta by rewrite mulr_gt0.
have D0 : 0 <= D by apply: le_trans le; rewrite mulr_ge0 // ltW.
have [Dz|Dn] := eqVneq D 0; last first.
  have Dp : 0 < D by rewrite lt_def Dn.
  rewrite -(pmulr_rge0 _ Dp) E addr_ge0 ?sqr_ge0 // subr_ge0.
  apply: le_trans (_ : k * beta * (q * p) <= _); first by rewrite ler_pmul2l.
  by rewrite mulrA ler_wpmul2r.
apply: (zero Dz); apply/eqP; rewrite -sqrf_eq0; apply/eqP/le_anti; rewrite sqr_ge0 andbT.
have qz : q = 0 by apply/le_anti; rewrite q_ge0 andbT -(pmulr_rle0 _ kb) -Dz.
by move: bound; rewrite qz mul0r.
Qed.

Lemma below_top beta : 0 < beta -> k * beta * q <= beta - k ->
  k * (t + y) ^+ 2 <= beta * t ^+ 2 + p.
Proof.
move=> beta0 le; rewrite -subr_ge0; apply: (form_ge0 (s := (beta - k) * t - k * y) beta0 le).
  by ring.
by move=> /eqP; rewrite subr_eq0 => /eqP -> ->; rewrite addr0 addrC addKr.
Qed.

Lemma above_bottom gamma : 0 < gamma -> k * gamma * q <= k - gamma ->
  gamma * t ^+ 2 <= k * (t + y) ^+ 2 + p.
Proof.
move=> gamma0 le; rewrite -subr_ge0; apply: (form_ge0 (s := (k - gamma) * t + k * y) gamma0 le).
  by ring.
by move=> /eqP; rewrite subr_eq0 => /eqP -> ->; rewrite addr0 addrC addKr.
Qed.
End Numbers.

Section Equality.
Variables (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) (K K' : R).
Hypothesis N_gt0 : (0 < N)%N.
Local Notation Hhat := (augmented H).
Local Notation mu := (mean H).
Local Notation U := (centring mu).
Local Notation C := (centred H mu).
Local Notation A := (C^T *m C).
Hypothesis full : full_column_rank Hhat.
Hypothesis before : condition_number Hhat K.
Hypothesis after : condition_number (Hhat *m U) K'.
Variables (beta gamma : R) (B G : 'M[R]_n).
Hypothesis top : largest_eigenvalue A beta.
Hypothesis bottom : smallest_eigenvalue A gamma.
Hypothesis B_inverse : pseudo_inverse (beta%:M - A) B.
Hypothesis G_inverse : pseudo_inverse (A - gamma%:M) G.
Local Notation q := (dot mu (B *m mu)).
Local Notation r := (dot mu (G *m mu)).

Let top_psd := below_largest (gram_symmetric C) top.
Let bottom_psd := above_smallest (gram_symmetric C) bottom.

Lemma top_form (x : 'cV_n) : dot x ((beta%:M - A) *m x) = beta * sq x - sq (C *m x).
Proof. by rewrite mulmxBl mul_scalar_mx dotBr dotZr gram_form. Qed.
Lemma bottom_form (x : 'cV_n) : dot x ((A - gamma%:M) *m x) = sq (C *m x) - gamma * sq x.
Proof. by rewrite mulmxBl mul_scalar_mx dotBr dotZr gram_form. Qed.

Lemma sq_split t x : sq (Hhat *m stack t x) = N%:R * (t + dot mu x) ^+ 2 + sq (C *m x).
Proof.
rewrite sq_augmented // sq_centred //; set s := sq (H *m x); set y := dot mu x.
have -> : N%:R * (t + y) ^+ 2 + (s - N%:R * y ^+ 2) = N%:R * (t ^+ 2 + 2 * t * y) + s by ring.
by [].
Qed.

Lemma extremes_of_gram : 0 < gamma <= beta.
Proof.
have [a [b [a0 b0 bE within]]] := condition_number_quotients before.
have [[[x ex] _] [_ high]] := (bottom, top); rewrite (high _ _ ex) andbT.
by have /andP[al _] := eigenvalue_within N_gt0 full a0 within ex; apply: lt_le_trans al.
Qed.

(* ---- strict where the one or the other is larger ---- *)

Lemma strict_if_above : mu != 0 -> beta - N%:R < N%:R * beta * q -> K' < K.
Proof.
move=> m0 large; apply: (strict_above N_gt0 full before after) => a b a0 within.
have Nb := N_below N_gt0 full within m0; exists beta; first by have [] := top.
rewrite Nb andbT ltNge; apply/negP => bbeta; set k : R := N%:R in large Nb.
have c0 : 0 < beta - k by rewrite subr_gt0 (lt_le_trans Nb).
have k0 : 0 < k by apply: NR_gt0.
have beta0 : 0 < beta by apply: lt_trans k0 _; rewrite -subr_gt0.
have q0 : 0 < q.
  by have := lt_trans c0 large; rewrite pmulr_rgt0 // mulr_gt0.
set c := beta - k in large c0; pose x : 'cV_n := c *: (B *m mu).
have /andP[_] := full_quotients full within (stack (k * q) x).
have : b * sq (stack (k * q) x) <= beta * sq (stack (k * q) x) by rewrite ler_wpmul2r ?sq_ge0.
move=> le /le_trans/(_ le); rewrite sq_split -/k sq_stack mulrDr.
have -> : dot mu x = c * q by rewrite dotZr.
have := form_at_inverse mu top_psd B_inverse c; rewrite -/x top_form => formE.
rewrite -ler_subr_addr -addrA formE -subr_ge0.
have -> : beta * (k * q) ^+ 2 + c ^+ 2 * q - k * (k * q + c * q) ^+ 2 =
  - (q * c * (k * beta * q - c)) by rewrite /c; ring.
by rewrite oppr_ge0; apply/negP; rewrite -ltNge !mulr_gt0 // subr_gt0.
Qed.

Lemma strict_if_below : mu != 0 -> N%:R - gamma < N%:R * gamma * r -> K' < K.
Proof.
move=> m0 large; apply: (strict_below N_gt0 full before after) => a b a0 within.
have aN := N_above N_gt0 full within m0; exists gamma; first by have [] := bottom.
rewrite aN andbT ltNge; apply/negP => ga; set k : R := N%:R in large aN.
have c0 : 0 < k - gamma by rewrite subr_gt0 (le_lt_trans ga).
have k0 : 0 < k by apply: NR_gt0.
have [[y ey] _] := bottom; have /andP[ag _] := eigenvalue_within N_gt0 full a0 within ey.
have g0 := lt_le_trans a0 ag.
have r0 : 0 < r.
  by have := lt_trans c0 large; rewrite pmulr_rgt0 // mulr_gt0.
set c := k - gamma in large c0; pose x : 'cV_n := c *: (G *m mu).
have /andP[+ _] := full_quotients full within (stack (- (k * r)) x).
have : gamma * sq (stack (- (k * r)) x) <= a * sq (stack (- (k * r)) x).
  by rewrite ler_wpmul2r ?sq_ge0.
move=> le /(le_trans le); rewrite sq_split -/k sq_stack mulrDr.
have -> : dot mu x = c * r by rewrite dotZr.
have := form_at_inverse mu bottom_psd G_inverse c; rewrite -/x bottom_form => formE.
rewrite -ler_subr_addr -addrA formE -subr_ge0.
have -> : k * (- (k * r) + c * r) ^+ 2 + c ^+ 2 * r - gamma * (- (k * r)) ^+ 2 =
  - (r * c * (k * gamma * r - c)) by rewrite /c; ring.
by rewrite oppr_ge0; apply/negP; rewrite -ltNge !mulr_gt0 // subr_gt0.
Qed.

(* ---- an equality where neither is ---- *)

Lemma equal_if : (forall x, largest_eigenvector A x -> dot mu x = 0) ->
  (forall x, smallest_eigenvector A x -> dot mu x = 0) ->
  N%:R * beta * q <= beta - N%:R -> N%:R * gamma * r <= N%:R - gamma -> K' = K.
Proof.
move=> otop obottom above below; have /andP[g0 gb] := extremes_of_gram.
have beta0 := lt_le_trans g0 gb; have k0 : 0 < N%:R :> R by apply: NR_gt0.
have K0 := condition_number_gt0 before; have K'0 := condition_number_gt0 after.
apply/le_anti; rewrite (full_rank N_gt0 full before after) /=.
have within : quotients_within Hhat gamma beta.
  move=> z _; have [t [x ->]] := stackE z; rewrite sq_split sq_stack !mulrDr; apply/andP; split.
    rewrite -ler_subr_addr -addrA -bottom_form.
    apply: (above_bottom t (y := dot mu x) k0) g0 below.
    - exact: inverse_form_ge0 mu bottom_psd G_inverse.
    - exact: bottom_psd.2.
    apply: (form_cauchy_schwarz bottom_psd G_inverse) => y.
    rewrite mulmxBl mul_scalar_mx => /eqP; rewrite subr_eq0 => /eqP Ay.
    have [->|y0] := eqVneq y 0; first by rewrite dot0r.
    by apply: obottom; exists gamma => //; have [] := bottom.
  rewrite -ler_subr_addr -addrA -top_form.
  apply: (below_top t (y := dot mu x) k0) beta0 above.
  - exact: inverse_form_ge0 mu top_psd B_inverse.
  - exact: top_psd.2.
  apply: (form_cauchy_schwarz top_psd B_inverse) => y.
  rewrite mulmxBl mul_scalar_mx => /eqP; rewrite subr_eq0 eq_sym => /eqP Ay.
  have [->|y0] := eqVneq y 0; first by rewrite dot0r.
  by apply: otop; exists beta => //; have [] := top.
have := condition_number_le before g0 within => Kle.
have [a [b [a0 b0 bE within']]] := condition_number_quotients after.
have image l x : eigenvector A l x -> a <= l <= b.
  move=> ex; have [x0 _] := ex; rewrite -sq_gt0 in x0; have := within' (stack 0 x).
  rewrite block_diagonal // expr0n mulr0 add0r (singular_valueE ex) sq_stack expr0n add0r.
  rewrite !ler_pmul2r //; apply; exact: full_rank_orthogonal (full_rank_centring N_gt0 full).
have [[[x ex] _] [[y ey] _]] := (bottom, top).
have /andP[ag _] := image _ _ ex; have /andP[_ bb] := image _ _ ey.
rewrite -ler_sqr ?nnegrE ?(ltW K0) ?(ltW K'0) // -(ler_pmul2r g0).
apply: le_trans Kle (le_trans bb _).
by rewrite bE ler_pmul2l // exprn_gt0.
Qed.
End Equality.

(* The mean moves the largest eigenvalue. *)
Theorem theorem_4b_above (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) (K K' beta : R)
    (B : 'M[R]_n) :
  let Hhat := augmented H in let mu := mean H in let C := centred H mu in let A := C^T *m C in
  (0 < N)%N -> full_column_rank Hhat -> mu != 0 ->
  largest_eigenvalue A beta -> pseudo_inverse (beta%:M - A) B ->
  beta - N%:R < N%:R * beta * dot mu (B *m mu) ->
  condition_number Hhat K -> condition_number (Hhat *m centring mu) K' -> K' < K.
Proof.
move=> Hhat mu C A N0 full m0 top inverse large kH kU.
exact: (strict_if_above N0 full kH kU top inverse m0 large).
Qed.

(* The mean moves the smallest eigenvalue. *)
Theorem theorem_4b_below (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) (K K' gamma : R)
    (G : 'M[R]_n) :
  let Hhat := augmented H in let mu := mean H in let C := centred H mu in let A := C^T *m C in
  (0 < N)%N -> full_column_rank Hhat -> mu != 0 ->
  smallest_eigenvalue A gamma -> pseudo_inverse (A - gamma%:M) G ->
  N%:R - gamma < N%:R * gamma * dot mu (G *m mu) ->
  condition_number Hhat K -> condition_number (Hhat *m centring mu) K' -> K' < K.
Proof.
move=> Hhat mu C A N0 full m0 bottom inverse large kH kU.
exact: (strict_if_below N0 full kH kU bottom inverse m0 large).
Qed.

(* It moves neither; in all other cases theorem_4b, theorem_4b_last_component or one of these two
   says that the inequality is strict. *)
Theorem theorem_4b_equality (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) (K K' beta gamma : R)
    (B G : 'M[R]_n) :
  let Hhat := augmented H in let mu := mean H in let C := centred H mu in let A := C^T *m C in
  (0 < N)%N -> full_column_rank Hhat -> mu != 0 ->
  largest_eigenvalue A beta -> pseudo_inverse (beta%:M - A) B ->
  smallest_eigenvalue A gamma -> pseudo_inverse (A - gamma%:M) G ->
  (forall x, largest_eigenvector A x -> dot mu x = 0) ->
  (forall x, smallest_eigenvector A x -> dot mu x = 0) ->
  N%:R * beta * dot mu (B *m mu) <= beta - N%:R ->
  N%:R * gamma * dot mu (G *m mu) <= N%:R - gamma ->
  condition_number Hhat K -> condition_number (Hhat *m centring mu) K' -> K' = K.
Proof.
move=> Hhat mu C A N0 full _ top Bi bottom Gi otop obottom above below kH kU.
exact: (equal_if N0 full kH kU top bottom Bi Gi otop obottom above below).
Qed.

(* Every symmetric matrix has one pseudo-inverse. *)
Theorem pseudo_inverse_is_defined (R : rcfType) n (M : 'M[R]_n) : M^T = M ->
  exists B, pseudo_inverse M B /\ forall B', pseudo_inverse M B' -> B' = B.
Proof.
move=> /pseudo_inverse_exists[B inverse]; exists B; split=> // B' inverse'.
exact: pseudo_inverse_unique inverse' inverse.
Qed.

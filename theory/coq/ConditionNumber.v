(* The condition number as paper L defines it (section 1): for a matrix of any shape and rank

     kappa(F) = the largest singular value / the smallest singular value that is not zero,

   and what it is by quadratic forms: kappa(F) <= c if and only if there are 0 < a, b <= c^2 a with

     a |x|^2 <= |F x|^2 <= b |x|^2      for all x orthogonal to the null space of F,

   which are all x where F has full column rank.  For a positive semi-definite M the singular values
   are the eigenvalues, and x' M x takes the place of |F x|^2.

   kappa is a relation, "K is the condition number of F": it determines K, and K exists
   unless F = 0.  The field is any real closed one. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct SpectralTheorem.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Definitions.
Variables (R : rcfType) (m n : nat) (F : 'M[R]_(m, n)).

Definition eigenvector (A : 'M[R]_n) (l : R) (x : 'cV[R]_n) := x != 0 /\ A *m x = l *: x.

(* s is a singular value: s >= 0, and s^2 is an eigenvalue of F'F. *)
Definition singular_value (s : R) := 0 <= s /\ exists x, eigenvector (F^T *m F) (s ^+ 2) x.

Definition largest_singular_value s :=
  singular_value s /\ forall t, singular_value t -> t <= s.
Definition smallest_nonzero_singular_value s :=
  [/\ singular_value s, 0 < s & forall t, singular_value t -> 0 < t -> s <= t].

Definition condition_number (K : R) := exists s t,
  [/\ largest_singular_value s, smallest_nonzero_singular_value t & K = s / t].

Definition orthogonal_to_null (x : 'cV[R]_n) := forall y, F *m y = 0 -> dot x y = 0.

(* The Rayleigh quotients of F'F lie between a and b. *)
Definition quotients_within (a b : R) := forall x, orthogonal_to_null x ->
  a * sq x <= sq (F *m x) <= b * sq x.

Definition full_column_rank := \rank F = n.
End Definitions.

Section Eigenvalues.
Variables (R : rcfType) (n : nat).

Definition at_most_eigenvalues (A : 'M[R]_n) a := forall l x, eigenvector A l x -> a <= l.
Definition at_least_eigenvalues (A : 'M[R]_n) b := forall l x, eigenvector A l x -> l <= b.

(* x is an eigenvector to the largest, or to the smallest, eigenvalue. *)
Definition largest_eigenvector A x := exists2 l, eigenvector A l x & at_least_eigenvalues A l.
Definition smallest_eigenvector A x := exists2 l, eigenvector A l x & at_most_eigenvalues A l.
End Eigenvalues.

Section SymmetricMatrices.
Variables (R : rcfType) (n : nat) (A : 'M[R]_n).
Hypothesis symmetric : A^T = A.

Lemma in_eigenbasis : exists (Q : 'M[R]_n) (d : 'I_n -> R), [/\ Q^T *m Q = 1%:M,
  forall x : 'cV_n, sq x = \sum_i (Q^T *m x) i 0 ^+ 2,
  forall x : 'cV_n, dot x (A *m x) = \sum_i d i * (Q^T *m x) i 0 ^+ 2,
  forall (x : 'cV_n) i, (Q^T *m (A *m x)) i 0 = d i * (Q^T *m x) i 0
  & forall i, eigenvector A (d i) (Q *m delta_mx i 0)].
Proof.
have [Q [d [o AQ]]] := spectral symmetric.
have QQ : Q *m Q^T = 1%:M by apply: mulmx1C.
have oT : Q^T^T *m Q^T = 1%:M by rewrite trmxK.
exists Q, (fun i => d 0 i); split=> // [x|x|x i|i].
- by rewrite -sq_column sq_orthogonal.
- have -> : dot x (A *m x) = dot (Q^T *m x) (diag_mx d *m (Q^T *m x)).
    by rewrite AQ dot_mul trmxK !mulmxA.
  by rewrite dot_column; apply: eq_bigr => i _; rewrite mul_diag_mx [X in _ * X]mxE expr2 mulrCA.
- by rewrite AQ !mulmxA o mul1mx -!mulmxA mul_diag_mx mxE.
split; first by rewrite -sq_gt0 sq_orthogonal // sq_delta ltr01.
rewrite AQ -!mulmxA [Q^T *m _]mulmxA o mul1mx scalemxAr; congr (_ *m _).
apply/matrixP => j k; rewrite mul_diag_mx !mxE.
by have [->|_] := eqVneq j i; rewrite // !mulr0.
Qed.

(* What bounds the nonzero eigenvalues bounds the quadratic form. *)
Lemma form_within a b :
  (forall l x, eigenvector A l x -> l != 0 -> a <= l <= b) ->
  forall x, orthogonal_to_null A x -> a * sq x <= dot x (A *m x) <= b * sq x.
Proof.
move=> within x ox; have [Q [d [o E form im eig]]] := in_eigenbasis.
have term i : a * (Q^T *m x) i 0 ^+ 2 <= d i * (Q^T *m x) i 0 ^+ 2 <= b * (Q^T *m x) i 0 ^+ 2.
  have [d0|/(within _ _ (eig i))/andP[lo hi]] := eqVneq (d i) 0; last first.
    by rewrite !ler_wpmul2r ?sqr_ge0.
  have [_ null] := eig i; rewrite d0 scale0r in null.
  have : dot (Q^T *m x) (delta_mx i 0) = 0 by rewrite dot_mul trmxK ox.
  by rewrite dot_delta => ->; rewrite expr0n !mulr0 lexx.
rewrite form E !big_distrr /=; apply/andP; split; apply: ler_sum => i _.
  by have /andP[] := term i.
by have /andP[] := term i.
Qed.

(* Every vector is a null vector plus one orthogonal to all of them. *)
Lemma null_part x : exists2 w, A *m w = 0 & orthogonal_to_null A (x - w).
Proof.
have [Q [d [o E form im eig]]] := in_eigenbasis; pose z := Q^T *m x.
have back : Q *m z = x by rewrite mulmxA (mulmx1C o) mul1mx.
pose v : 'cV[R]_n := \col_i (z i 0 * (d i == 0)%:R); exists (Q *m v).
  apply/eqP; rewrite -sq_eq0 -(@sq_orthogonal _ _ _ _ Q^T) ?trmxK ?(mulmx1C o) // sq_column.
  apply/eqP/big1 => i _; rewrite im mulmxA o mul1mx mxE.
  by have [->|_] := eqVneq (d i) 0; rewrite ?mul0r ?mulr0 expr0n.
move=> y Ay; rewrite -back -mulmxBr dot_mul dot_column big1 // => i _.
have : d i * (Q^T *m y) i 0 = 0 by rewrite -im Ay mulmx0 mxE.
rewrite !mxE; have [_ _|di /eqP] := eqVneq (d i) 0; first by rewrite mulr1 subrr mul0r.
by rewrite mulf_eq0 (negbTE di) /= => /eqP ->; rewrite mulr0.
Qed.

Lemma eigenvectors_orthogonal l x : eigenvector A l x -> l != 0 -> orthogonal_to_null A x.
Proof.
move=> [_ Ax] l0 y Ay; apply: (mulfI l0).
by rewrite -dotZl -Ax dot_mul symmetric Ay dot0r mulr0.
Qed.

Hypothesis positive : forall x : 'cV_n, 0 <= dot x (A *m x).

Lemma eigenvalue_ge0 l x : eigenvector A l x -> 0 <= l.
Proof.
move=> [x0 Ax]; have := positive x; rewrite Ax dotZr pmulr_lge0 //.
by rewrite sq_gt0.
Qed.

Lemma singular_value_eigenvalue s : singular_value A s <-> exists x, eigenvector A s x.
Proof.
split=> [[s0 [x [x0 Ax]]]|[x ex]]; last first.
  have [x0 Ax] := ex; split; first exact: eigenvalue_ge0 ex.
  by exists x; split=> //; rewrite symmetric -mulmxA Ax -scalemxAr Ax scalerA expr2.
rewrite symmetric -mulmxA in Ax; pose y := A *m x + s *: x.
have [y0|y0] := eqVneq y 0; last first.
  exists y; split=> //; rewrite /y mulmxDr Ax scalerDr scalerA -expr2 addrC.
  by rewrite -scalemxAr.
have Ax' : A *m x = (- s) *: x by apply/eqP; rewrite scaleNr -subr_eq0 opprK -/y y0.
have ex : eigenvector A (- s) x by split.
have s0' : s = 0 by apply/le_anti; rewrite s0 -oppr_ge0 (eigenvalue_ge0 ex).
by exists x; split=> //; rewrite Ax' s0' oppr0.
Qed.
End SymmetricMatrices.

Section Gram.
Variables (R : rcfType) (m n : nat) (F : 'M[R]_(m, n)).

Lemma gram_symmetric : (F^T *m F)^T = F^T *m F.
Proof. by rewrite trmx_mul trmxK. Qed.
Lemma gram_form (x : 'cV_n) : dot x (F^T *m F *m x) = sq (F *m x).
Proof. by rewrite sq_mul. Qed.
Lemma gram_null (x : 'cV_n) : F^T *m F *m x = 0 <-> F *m x = 0.
Proof.
split=> [z|z]; last by rewrite -mulmxA z mulmx0.
by apply/eqP; rewrite -sq_eq0 -gram_form z dot0r.
Qed.
Lemma gram_orthogonal_to_null x : orthogonal_to_null (F^T *m F) x <-> orthogonal_to_null F x.
Proof. by split=> ox y /gram_null; apply: ox. Qed.

Lemma singular_valueE s x : eigenvector (F^T *m F) s x -> sq (F *m x) = s * sq x.
Proof. by move=> [_ Fx]; rewrite -gram_form Fx dotZr. Qed.
Lemma gram_eigenvalue l x : eigenvector (F^T *m F) l x -> singular_value F (Num.sqrt l).
Proof.
move=> ex; have [x0 _] := ex; split; first exact: sqrtr_ge0.
have l0 : 0 <= l.
  by have := sq_ge0 (F *m x); rewrite (singular_valueE ex) pmulr_lge0 // sq_gt0.
by exists x; rewrite sqr_sqrtr.
Qed.

Lemma null_vector_part x : exists2 w, F *m w = 0 & orthogonal_to_null F (x - w).
Proof.
have [w /gram_null Fw /gram_orthogonal_to_null ow] := null_part gram_symmetric x.
by exists w.
Qed.

Lemma full_column_rankP : full_column_rank F <-> forall x : 'cV_n, F *m x = 0 -> x = 0.
Proof.
split=> [rk x Fx|inj].
  have free : row_free F^T by rewrite -row_leq_rank mxrank_tr rk.
  apply: trmx_inj; apply/eqP; rewrite trmx0 -(mulmx_free_eq0 _ free).
  by rewrite -trmx_mul Fx trmx0.
apply/eqP; rewrite eqn_leq rank_leq_col /= -mxrank_tr row_leq_rank -kermx_eq0.
apply/eqP/row_matrixP => i; rewrite row0; apply: trmx_inj; rewrite trmx0.
apply: inj; apply: trmx_inj; rewrite trmx_mul !trmxK trmx0.
by apply/sub_kermxP; apply: row_sub.
Qed.
Lemma full_rank_orthogonal (x : 'cV_n) : full_column_rank F -> orthogonal_to_null F x.
Proof. by move=> /full_column_rankP inj y /inj ->; rewrite dot0r. Qed.
End Gram.

Section Theorems.
Variables (R : rcfType) (m n : nat) (F : 'M[R]_(m, n)).

(* The quotients lie between the squares of the extreme singular values, ... *)
Lemma quotients_of_singular_values s t :
  largest_singular_value F s -> smallest_nonzero_singular_value F t ->
  quotients_within F (t ^+ 2) (s ^+ 2).
Proof.
move=> [_ top] [_ t0 bottom] x /gram_orthogonal_to_null ox; rewrite -gram_form.
apply: (form_within (gram_symmetric F)) ox => l y ey l0.
have sv := gram_eigenvalue ey; have [sl _] := sv.
have le0 : 0 <= l.
  by apply: eigenvalue_ge0 ey => z; rewrite gram_form sq_ge0.
have lp : 0 < Num.sqrt l by rewrite sqrtr_gt0 lt_def l0.
have s0 : 0 <= s by apply: le_trans sl (top _ sv).
rewrite -(sqr_sqrtr le0) !ler_sqr ?nnegrE ?(ltW t0) //.
by rewrite bottom //= top.
Qed.

(* ... and no better bounds do. *)
Lemma singular_value_within a b s : quotients_within F a b ->
  singular_value F s -> 0 < s -> a <= s ^+ 2 <= b.
Proof.
move=> within [_ [x ex]] s0; have [x0 _] := ex; rewrite -sq_gt0 in x0.
have := within x; rewrite (singular_valueE ex) !ler_pmul2r //; apply.
apply/gram_orthogonal_to_null; apply: eigenvectors_orthogonal ex _; first exact: gram_symmetric.
by rewrite expf_neq0 // gt_eqF.
Qed.

Lemma extremes_positive s t : largest_singular_value F s -> smallest_nonzero_singular_value F t ->
  0 < t <= s.
Proof. by move=> [_ top] [sv t0 _]; rewrite t0 top. Qed.

Lemma condition_number_ge1 K : condition_number F K -> 1 <= K.
Proof.
move=> [s [t [S T ->]]]; have /andP[t0 ts] := extremes_positive S T.
by rewrite ler_pdivl_mulr // mul1r.
Qed.
Lemma condition_number_gt0 K : condition_number F K -> 0 < K.
Proof. by move=> /condition_number_ge1; apply: lt_le_trans. Qed.

(* kappa by quadratic forms: bounds b/a = kappa^2 exist, and every other bounds give no less. *)
Lemma condition_number_quotients K : condition_number F K ->
  exists a b, [/\ 0 < a, 0 < b, b = K ^+ 2 * a & quotients_within F a b].
Proof.
move=> [s [t [S T ->]]]; have /andP[t0 ts] := extremes_positive S T.
exists (t ^+ 2), (s ^+ 2); split; last exact: quotients_of_singular_values.
- by rewrite exprn_gt0.
- by rewrite exprn_gt0 // (lt_le_trans t0).
by rewrite expr_div_n divfK // expf_neq0 // gt_eqF.
Qed.

Lemma condition_number_le K a b : condition_number F K -> 0 < a -> quotients_within F a b ->
  K ^+ 2 * a <= b.
Proof.
move=> [s [t [S T ->]]] a0 within; have /andP[t0 ts] := extremes_positive S T.
have [[svs _] [svt _ _]] := (S, T); have s0 := lt_le_trans t0 ts.
have /andP[_ sb] := singular_value_within within svs s0.
have /andP[at_ _] := singular_value_within within svt t0.
rewrite expr_div_n mulrAC ler_pdivr_mulr ?exprn_gt0 //.
apply: ler_pmul => //; first exact: sqr_ge0. exact: ltW.
Qed.

Lemma condition_numberP K c : condition_number F K -> 0 <= c ->
  K <= c <-> exists a b, [/\ 0 < a, b <= c ^+ 2 * a & quotients_within F a b].
Proof.
move=> kF c0; have K0 := ltW (condition_number_gt0 kF).
split=> [Kc|[a [b [a0 bc within]]]]; last first.
  rewrite -ler_sqr ?nnegrE // -(ler_pmul2r a0).
  exact: le_trans (condition_number_le kF a0 within) bc.
have [a [b [a0 b0 -> within]]] := condition_number_quotients kF.
exists a, (K ^+ 2 * a); split=> //.
by rewrite ler_pmul2r // ler_sqr.
Qed.

Lemma condition_number_unique K L : condition_number F K -> condition_number F L -> K = L.
Proof.
move=> kK kL; have K0 := ltW (condition_number_gt0 kK); have L0 := ltW (condition_number_gt0 kL).
apply/le_anti; apply/andP; split.
  by apply/(condition_numberP kK L0)/(condition_numberP kL L0).
by apply/(condition_numberP kL K0)/(condition_numberP kK K0).
Qed.

Lemma condition_number_exists : F != 0 -> exists K, condition_number F K.
Proof.
move=> F0; have [Q [d [o E form im eig]]] := in_eigenbasis (gram_symmetric F).
have d0 i : 0 <= d i.
  apply: eigenvalue_ge0 (eig i) => x; rewrite gram_form; exact: sq_ge0.
have sv i : singular_value F (Num.sqrt (d i)) by apply: gram_eigenvalue (eig i).
have all s : singular_value F s -> exists i, s = Num.sqrt (d i).
  move=> [s0 [x [x0 Fx]]]; have [i zi] : exists i, (Q^T *m x) i 0 != 0.
    apply/existsP; apply: contraNT x0; rewrite negb_exists => /forallP z.
    rewrite -sq_eq0 E; apply/eqP/big1 => i _.
    by have := z i; rewrite negbK => /eqP ->; rewrite expr0n.
  exists i; have := im x i; rewrite Fx -scalemxAr mxE => /(mulIf zi) <-.
  by rewrite sqrtr_sqr ger0_norm.
have [i0 di0] : exists i, 0 < d i.
  apply/existsP; apply: contraNT F0; rewrite negb_exists => /forallP z.
  have zero (x : 'cV_n) : F *m x = 0.
    apply/eqP; rewrite -sq_eq0 -gram_form form; apply/eqP/big1 => i _.
    have := z i; rewrite -leNgt => di; have -> : d i = 0 by apply/le_anti; rewrite d0 di.
    by rewrite mul0r.
  by apply/eqP/matrixP => i j; have := zero (delta_mx j 0); rewrite -colE => /matrixP/(_ i 0);
    rewrite !mxE.
have [k top] : exists k, forall i, d i <= d k.
  by case: (@arg_maxP _ _ _ i0 xpredT d) => // k _ top; exists k => j; apply: top.
have [l dl bottom] : exists2 l, 0 < d l & forall i, 0 < d i -> d l <= d i.
  by case: (@arg_minP _ _ _ i0 (fun i => 0 < d i) d) => // l dl bottom; exists l.
exists (Num.sqrt (d k) / Num.sqrt (d l)), (Num.sqrt (d k)), (Num.sqrt (d l)); split=> //.
  by split=> [|s /all[i ->]]; [exact: sv|rewrite ler_sqrt ?top ?(lt_le_trans di0)].
split; [exact: sv|by rewrite sqrtr_gt0|] => s /all[i ->].
by rewrite sqrtr_gt0 => di; rewrite ler_sqrt // bottom.
Qed.

(* From above the quotients are bounded on all vectors. *)
Lemma quotients_above a b : 0 <= b -> quotients_within F a b ->
  forall x : 'cV_n, sq (F *m x) <= b * sq x.
Proof.
move=> b0 within x; have [w Fw ow] := null_vector_part F x.
have -> : F *m x = F *m (x - w) by rewrite mulmxBr Fw subr0.
have /andP[_ hi] := within _ ow; apply: le_trans hi _; rewrite ler_wpmul2l //.
have orth : dot (x - w) w = 0 by apply: ow.
have -> : sq x = sq (x - w) + sq w by rewrite -{1}(subrK w x) sqD orth mulr0 addr0.
by rewrite ler_addl sq_ge0.
Qed.
End Theorems.

(* What is at least every eigenvalue of F'F bounds the quotients of all vectors. *)
Lemma quotients_at_least (R : rcfType) m n (F : 'M[R]_(m, n)) b : 0 <= b ->
  at_least_eigenvalues (F^T *m F) b -> forall x : 'cV_n, sq (F *m x) <= b * sq x.
Proof.
move=> b0 high; apply: (@quotients_above _ _ _ F 0) => // x /gram_orthogonal_to_null ox.
rewrite -gram_form; apply: (form_within (gram_symmetric F)) ox => l y ey _.
rewrite (high _ _ ey) andbT; apply: eigenvalue_ge0 ey => z.
by rewrite gram_form sq_ge0.
Qed.

(* To read kappa off two eigenvectors and bounds. *)
Lemma condition_number_attained (R : rcfType) m n (F : 'M[R]_(m, n)) a b x y :
  0 < a -> quotients_within F a b ->
  eigenvector (F^T *m F) a x -> eigenvector (F^T *m F) b y ->
  condition_number F (Num.sqrt (b / a)).
Proof.
move=> a0 within ex ey.
have ab : a <= b.
  have := @singular_value_within _ _ _ F a b (Num.sqrt a) within (gram_eigenvalue ex).
  by rewrite sqrtr_gt0 sqr_sqrtr ?(ltW a0) //; case/(_ a0)/andP.
have b0 : 0 < b by apply: lt_le_trans a0 ab.
exists (Num.sqrt b), (Num.sqrt a); split.
- split; first exact: gram_eigenvalue ey.
  move=> t svt; have [t0 _] := svt; have [->|tn] := eqVneq t 0; first exact: sqrtr_ge0.
  have tp : 0 < t by rewrite lt_def tn.
  have /andP[_ tb] := singular_value_within within svt tp.
  by rewrite -(ger0_norm t0) -sqrtr_sqr ler_sqrt.
- split; [exact: gram_eigenvalue ex|by rewrite sqrtr_gt0|] => t svt tp.
  have /andP[at_ _] := singular_value_within within svt tp.
  by rewrite -(ger0_norm (ltW tp)) -sqrtr_sqr ler_sqrt // exprn_gt0.
by rewrite sqrtrM ?sqrtrV ?ltW.
Qed.

(* ---- kappa(F B) <= kappa(F) kappa(B) for a nonsingular B, F of any shape and rank ---- *)

Section Products.
Variables (R : rcfType) (m n : nat) (F : 'M[R]_(m, n)) (B : 'M[R]_n).
Hypothesis nonsingular : B \in unitmx.

Lemma nonsingular_quotients c d : quotients_within B c d ->
  forall x : 'cV_n, c * sq x <= sq (B *m x) <= d * sq x.
Proof.
move=> within x; apply: within => y By.
by rewrite -(mulKmx nonsingular y) By mulmx0 dot0r.
Qed.

Lemma product_quotients a b c d : 0 <= a -> 0 <= b -> 0 <= c ->
  quotients_within F a b -> quotients_within B c d -> quotients_within (F *m B) (a * c) (b * d).
Proof.
move=> a0 b0 c0 FW /nonsingular_quotients BW x ox; rewrite -mulmxA; apply/andP; split; last first.
  apply: le_trans (quotients_above b0 FW _) _.
  by rewrite -mulrA ler_wpmul2l //; have /andP[] := BW x.
have [w Fw ow] := null_vector_part F (B *m x); pose y := invmx B *m w.
have By : B *m y = w by rewrite mulKVmx.
have -> : F *m (B *m x) = F *m (B *m x - w) by rewrite mulmxBr Fw subr0.
have /andP[lo _] := FW _ ow; apply: le_trans lo; rewrite -mulrA ler_wpmul2l // -By -mulmxBr.
have /andP[lo _] := BW (x - y); apply: le_trans lo; rewrite ler_wpmul2l // sqB ox.
  by rewrite mulr0 subr0 ler_addl sq_ge0.
by rewrite -mulmxA By.
Qed.

Lemma condition_number_product K L M :
  condition_number F K -> condition_number B L -> condition_number (F *m B) M -> M <= K * L.
Proof.
move=> kF kB kM; have [a [b [a0 b0 bE FW]]] := condition_number_quotients kF.
have [c [d [c0 d0 dE BW]]] := condition_number_quotients kB.
have K0 := ltW (condition_number_gt0 kF); have L0 := ltW (condition_number_gt0 kB).
apply/(condition_numberP kM); first exact: mulr_ge0.
exists (a * c), (b * d); split; [exact: mulr_gt0| |apply: product_quotients => //; exact: ltW].
by rewrite bE dE le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

Lemma inverse_quotients c d : 0 < c -> 0 < d ->
  quotients_within B c d -> quotients_within (invmx B) d^-1 c^-1.
Proof.
move=> c0 d0 /nonsingular_quotients BW x _; have /andP[lo hi] := BW (invmx B *m x).
rewrite mulKVmx // in lo hi.
by rewrite [d^-1 * _]mulrC [c^-1 * _]mulrC ler_pdivr_mulr // ler_pdivl_mulr // mulrC hi mulrC lo.
Qed.

Lemma condition_number_inverse K L :
  condition_number B K -> condition_number (invmx B) L -> L <= K.
Proof.
move=> kB kL; have [c [d [c0 d0 dE BW]]] := condition_number_quotients kB.
apply/(condition_numberP kL); first exact: ltW (condition_number_gt0 kB).
exists d^-1, c^-1; split; [by rewrite invr_gt0| |exact: inverse_quotients].
by rewrite dE invfM mulrA mulfV ?mul1r // expf_neq0 // gt_eqF // (condition_number_gt0 kB).
Qed.
End Products.

(* ---- what the definition means ---- *)

(* kappa(F) <= c by quadratic forms, on the vectors orthogonal to the null space. *)
Theorem condition_number_by_quotients (R : rcfType) m n (F : 'M[R]_(m, n)) K c :
  condition_number F K -> 0 <= c ->
  K <= c <-> exists a b, [/\ 0 < a, b <= c ^+ 2 * a & forall x : 'cV_n,
    (forall y, F *m y = 0 -> dot x y = 0) -> a * sq x <= sq (F *m x) <= b * sq x].
Proof. exact: condition_numberP. Qed.

(* Every matrix but zero has one condition number. *)
Theorem condition_number_is_defined (R : rcfType) m n (F : 'M[R]_(m, n)) :
  F != 0 -> exists K, condition_number F K /\ forall L, condition_number F L -> L = K.
Proof.
move=> /condition_number_exists[K kF]; exists K; split=> // L kL.
exact: condition_number_unique kL kF.
Qed.

(* "In general, kappa(A B) <= kappa(A) kappa(B) does not hold for rectangular matrices": it does
   for a nonsingular B. *)
Theorem condition_number_of_product (R : rcfType) m n (F : 'M[R]_(m, n)) (B : 'M[R]_n) K L M :
  B \in unitmx -> condition_number F K -> condition_number B L -> condition_number (F *m B) M ->
  M <= K * L.
Proof. by move=> unit kF kB kM; exact: (condition_number_product unit kF kB kM). Qed.

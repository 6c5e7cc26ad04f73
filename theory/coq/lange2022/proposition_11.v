(* Proposition 11: kappa(Hhat' S Hhat) <= kappa(Hhat)^2 kappa(S), S symmetric positive definite,
   Hhat of any shape and rank.

   Section 3.3 uses it for the S of Proposition 2, which has zeros where a ReLU is dead.  What holds
   for S >= 0 has on its right only the part of Hhat on which S does not vanish: for a diagonal S
   the rows with s_j > 0, the active examples. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct ConditionNumber Preconditioning.
From BatchNorm.lange2022 Require Import theorem_4_centring theorem_4_scaling.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Definitions.
Variables (R : rcfType) (n : nat) (M : 'M[R]_n).

Definition semidefinite := M^T = M /\ forall x : 'cV_n, 0 <= dot x (M *m x).
Definition positive_definite := M^T = M /\ forall x : 'cV_n, x != 0 -> 0 < dot x (M *m x).

Definition forms_within a b := forall x, orthogonal_to_null M x ->
  a * sq x <= dot x (M *m x) <= b * sq x.
End Definitions.

Lemma positive_semidefinite (R : rcfType) n (S : 'M[R]_n) : positive_definite S -> semidefinite S.
Proof.
move=> [sym pos]; split=> // x; have [->|/pos/ltW//] := eqVneq x 0.
by rewrite dot0l.
Qed.

(* ---- the condition number of a semi-definite matrix, by its quadratic form ---- *)

Section Forms.
Variables (R : rcfType) (n : nat) (M : 'M[R]_n).
Hypothesis psd : semidefinite M.
Let symmetric : M^T = M := psd.1.

Lemma condition_number_forms K : condition_number M K ->
  exists a b, [/\ 0 < a, 0 < b, b = K * a & forms_within M a b].
Proof.
move=> [s [t [S T ->]]]; have /andP[t0 ts] := extremes_positive S T.
exists t, s; split=> //; [exact: lt_le_trans ts|by rewrite divfK // gt_eqF|].
apply: (form_within symmetric) => l x ex l0; have le0 := eigenvalue_ge0 psd.2 ex.
have sv : singular_value M l by apply/(singular_value_eigenvalue symmetric psd.2); exists x.
have [[_ top] [_ _ bottom]] := (S, T).
by rewrite top // bottom // lt_def l0.
Qed.

Lemma condition_number_forms_le K a b : condition_number M K -> 0 < a -> forms_within M a b ->
  K * a <= b.
Proof.
move=> [s [t [S T ->]]] a0 within; have /andP[t0 ts] := extremes_positive S T.
have bounds l : singular_value M l -> 0 < l -> a <= l <= b.
  move=> /(singular_value_eigenvalue symmetric psd.2)[x ex] l0; have [x0 Mx] := ex.
  rewrite -sq_gt0 in x0; have := within x; rewrite Mx dotZr !ler_pmul2r //; apply.
  by apply: (eigenvectors_orthogonal symmetric ex); rewrite gt_eqF.
have [[svs _] [svt _ _]] := (S, T).
have /andP[_ sb] := bounds s svs (lt_le_trans t0 ts); have /andP[at_ _] := bounds t svt t0.
rewrite mulrAC ler_pdivr_mulr //; apply: ler_pmul => //; apply: ltW => //.
exact: lt_le_trans ts.
Qed.
End Forms.

Section Product.
Variables (R : rcfType) (m n : nat) (F : 'M[R]_(m, n)) (S : 'M[R]_m).

Lemma product_form (x : 'cV[R]_n) : dot x (F^T *m S *m F *m x) = dot (F *m x) (S *m (F *m x)).
Proof. by rewrite dot_mul !mulmxA. Qed.
Lemma product_semidefinite : semidefinite S -> semidefinite (F^T *m S *m F).
Proof.
move=> [sym pos]; split=> [|x]; last by rewrite product_form.
by rewrite !trmx_mul trmxK sym mulmxA.
Qed.

(* S is semi-definite, and no image of F meets its null space. *)
Lemma product_bound K L M : semidefinite S -> (forall x : 'cV_n, orthogonal_to_null S (F *m x)) ->
  condition_number F K -> condition_number S L -> condition_number (F^T *m S *m F) M ->
  M <= K ^+ 2 * L.
Proof.
move=> psd range kF kS kM; have [a [b [a0 b0 bE FW]]] := condition_number_quotients kF.
have [s [t [s0 t0 tE SW]]] := condition_number_forms psd kS.
have within : forms_within (F^T *m S *m F) (s * a) (t * b).
  move=> x ox; have oF : orthogonal_to_null F x by move=> y Fy; apply: ox; rewrite -!mulmxA Fy
    !mulmx0.
  have /andP[lo hi] := FW x oF; have /andP[los his] := SW _ (range x).
  rewrite product_form -!mulrA; apply/andP; split.
    by apply: le_trans los; rewrite ler_pmul2l.
  by apply: le_trans his _; rewrite ler_pmul2l.
have := condition_number_forms_le (product_semidefinite psd) kM (mulr_gt0 s0 a0) within.
have -> : t * b = K ^+ 2 * L * (s * a) by rewrite tE bE; ring.
by rewrite ler_pmul2r // mulr_gt0.
Qed.
End Product.

(* Proposition 11 as printed. *)
Theorem proposition_11 (R : rcfType) m n (H : 'M[R]_(m, n)) (S : 'M[R]_m) K L M :
  positive_definite S -> condition_number H K -> condition_number S L ->
  condition_number (H^T *m S *m H) M -> M <= K ^+ 2 * L.
Proof.
move=> pd; apply: product_bound; first exact: positive_semidefinite.
move=> x y Sy; have [->|/(pd.2)] := eqVneq y 0; first exact: dot0r.
by rewrite Sy dot0r ltxx.
Qed.

(* Lines of its proof: an S whose entries are lambda less a square is at most lambda, ... *)
Section Quotients.
Variables (R : rcfType) (N : nat).

Lemma weighted_square (s : 'rV[R]_N) (a : 'cV[R]_N) :
  dot a (diag_mx s *m a) = \sum_j s 0 j * a j 0 ^+ 2.
Proof.
by rewrite dot_column; apply: eq_bigr => j _; rewrite mul_diag_mx mxE expr2 mulrCA.
Qed.
End Quotients.

Theorem largest_quotient (R : rcfType) N n (H : 'M[R]_(N, n)) (v : 'cV[R]_(1 + n)) (r : 'rV[R]_N)
    lambda :
  let a := augmented H *m v in
  dot a (diag_mx (\row_j (lambda - r 0 j ^+ 2)) *m a) <= lambda * sq a.
Proof.
cbv zeta; move: (augmented H *m v) => a; rewrite weighted_square sq_column big_distrr.
apply: ler_sum => j _ /=.
by rewrite mxE ler_wpmul2r ?sqr_ge0 // ler_subl_addr ler_addl sqr_ge0.
Qed.

(* ... and one whose entries are lambda plus a square is at least lambda. *)
Theorem smallest_quotient_corrected (R : rcfType) N n (H : 'M[R]_(N, n)) (v : 'cV[R]_(1 + n))
    (r : 'rV[R]_N) lambda :
  let a := augmented H *m v in
  lambda * sq a <= dot a (diag_mx (\row_j (lambda + r 0 j ^+ 2)) *m a).
Proof.
cbv zeta; move: (augmented H *m v) => a; rewrite weighted_square sq_column big_distrr.
apply: ler_sum => j _ /=.
by rewrite mxE ler_wpmul2r ?sqr_ge0 // ler_addl sqr_ge0.
Qed.

(* As section 3.3 needs it, S >= 0 diagonal: with the active examples alone. *)
Definition active_rows (R : rcfType) m n (H : 'M[R]_(m, n)) (s : 'rV[R]_m) : 'M[R]_(m, n) :=
  \matrix_(i, j) (if 0 < s 0 i then H i j else 0).

Theorem proposition_11_semidefinite_corrected (R : rcfType) m n (H : 'M[R]_(m, n)) (s : 'rV[R]_m)
    K L M :
  (forall i, 0 <= s 0 i) -> condition_number (active_rows H s) K ->
  condition_number (diag_mx s) L -> condition_number (H^T *m diag_mx s *m H) M -> M <= K ^+ 2 * L.
Proof.
move=> s0 kF kS; pose F := active_rows H s.
have -> : H^T *m diag_mx s *m H = F^T *m diag_mx s *m F.
  rewrite !mul_mx_diag; apply/matrixP => i j; rewrite !mxE; apply: eq_bigr => k _.
  rewrite !mxE; have [//|] := ltP 0 (s 0 k); rewrite le_eqVlt ltNge s0 orbF => /eqP ->.
  by rewrite !mulr0 !mul0r.
apply: product_bound kF kS => [|x y]; last first.
  move=> Sy; rewrite dot_column big1 // => k _.
  have := congr1 (fun v : 'cV_m => v k 0) Sy; rewrite mul_diag_mx mxE [RHS]mxE => /eqP.
  rewrite mulf_eq0 => /orP[/eqP z|/eqP ->]; last by rewrite mulr0.
  rewrite [X in X * _]mxE big1 ?mul0r // => j _.
  by rewrite mxE z ltxx mul0r.
split=> [|x]; first exact: tr_diag_mx.
rewrite dot_column sumr_ge0 // => k _; rewrite mul_diag_mx mxE mulrCA.
by rewrite mulr_ge0 // -expr2 sqr_ge0.
Qed.

(* kappa(B' M B) <= kappa(B)^2 kappa(M) for a nonsingular B and any M >= 0, ... *)
Section Congruence.
Variables (R : rcfType) (n : nat) (B M : 'M[R]_n).
Hypothesis nonsingular : B \in unitmx.
Hypothesis psd : semidefinite M.

Lemma congruence_bound K L k : condition_number B K -> condition_number M L ->
  condition_number (B^T *m M *m B) k -> k <= K ^+ 2 * L.
Proof.
move=> kB kM kk; have [c [d [c0 d0 dE BW]]] := condition_number_quotients kB.
have [a [b [a0 b0 bE MW]]] := condition_number_forms psd kM.
have within : forms_within (B^T *m M *m B) (a * c) (b * d).
  move=> x ox; rewrite product_form -!mulrA.
  have [w Mw ow] := null_part psd.1 (B *m x); pose y := invmx B *m w.
  have By : B *m y = w by rewrite mulKVmx.
  have form : dot (B *m x) (M *m (B *m x)) = dot (B *m x - w) (M *m (B *m x - w)).
    by rewrite mulmxBr Mw subr0 dotBl -[X in dot w (X *m _)](psd.1) -dot_mul Mw dot0l subr0.
  have /andP[lo hi] := MW _ ow; rewrite form; apply/andP; split.
    apply: le_trans lo; rewrite ler_wpmul2l ?(ltW a0) // -By -mulmxBr.
    have /andP[low _] := nonsingular_quotients nonsingular BW (x - y).
    apply: le_trans low; rewrite ler_wpmul2l ?(ltW c0) // sqB ox.
      by rewrite mulr0 subr0 ler_addl sq_ge0.
    by rewrite -!mulmxA By Mw mulmx0.
  apply: le_trans hi _; rewrite ler_wpmul2l ?(ltW b0) //.
  have /andP[_ high] := nonsingular_quotients nonsingular BW x; apply: le_trans high.
  have -> : sq (B *m x) = sq (B *m x - w) + sq w.
    by rewrite -{1}(subrK w (B *m x)) sqD (ow w Mw) mulr0 addr0.
  by rewrite ler_addl sq_ge0.
have := condition_number_forms_le (product_semidefinite B psd) kk (mulr_gt0 a0 c0) within.
have -> : b * d = K ^+ 2 * L * (a * c) by rewrite bE dE; ring.
by rewrite ler_pmul2r // mulr_gt0.
Qed.
End Congruence.

(* ... so that G = F B improves the Hessian by at most kappa(B)^2. *)
Lemma improvement (R : rcfType) N n (F : 'M[R]_(N, n)) (S : 'M[R]_N) (B : 'M[R]_n) K L k :
  semidefinite S -> B \in unitmx -> invmx B != 0 -> condition_number (F^T *m S *m F) k ->
  condition_number ((F *m B)^T *m S *m (F *m B)) L -> condition_number B K -> k <= K ^+ 2 * L.
Proof.
move=> psd unit nz kF kG kB; set G := F *m B in kG *.
have BE : F^T *m S *m F = (invmx B)^T *m (G^T *m S *m G) *m invmx B.
  by rewrite /G -{1 2}(mulmxK unit F) trmx_mul !mulmxA.
rewrite BE in kF; have unitB : invmx B \in unitmx by rewrite unitmx_inv.
have [M kM] := condition_number_exists nz.
apply: le_trans (congruence_bound unitB (product_semidefinite _ psd) kM kG kF) _.
rewrite ler_wpmul2r ?(ltW (condition_number_gt0 kG)) //.
have [M0 K0] := (ltW (condition_number_gt0 kM), ltW (condition_number_gt0 kB)).
by rewrite ler_sqr ?nnegrE // (condition_number_inverse unit kB kM).
Qed.

(* For any S >= 0: the scaling after the centring by kappa(D)^2, both by kappa(P)^2. *)
Theorem hessian_improvement_centred (R : rcfType) N n (H : 'M[R]_(N, n)) (S : 'M[R]_N) K L k :
  (0 < N)%N -> no_constant_feature H -> semidefinite S ->
  let F := augmented H *m own_centring H in let Ghat := own_normalized H in
  condition_number (F^T *m S *m F) k -> condition_number (Ghat^T *m S *m Ghat) L ->
  condition_number (own_scaling H) K -> k <= K ^+ 2 * L.
Proof.
move=> N0 spread psd F Ghat; have unit := own_scaling_nonsingular N0 spread.
by apply: improvement => //; apply: nonsingular_neq0; rewrite unitmx_inv.
Qed.

Theorem hessian_improvement (R : rcfType) N n (H : 'M[R]_(N, n)) (S : 'M[R]_N) K L k :
  (0 < N)%N -> no_constant_feature H -> semidefinite S ->
  let Hhat := augmented H in let P := own_centring H *m own_scaling H in
  let Ghat := own_normalized H in
  condition_number (Hhat^T *m S *m Hhat) k -> condition_number (Ghat^T *m S *m Ghat) L ->
  condition_number P K -> k <= K ^+ 2 * L.
Proof.
move=> N0 spread psd Hhat P Ghat; have unit : P \in unitmx.
  by rewrite unitmx_mul own_scaling_nonsingular // centring_nonsingular.
have nz : invmx P != 0 by apply: nonsingular_neq0; rewrite unitmx_inv.
have -> : Ghat = Hhat *m P by rewrite mulmxA.
by move=> kH kG kP; exact: (improvement psd unit nz kH kG kP).
Qed.

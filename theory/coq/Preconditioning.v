(* The matrices of paper L, section 3.3, (9) to (14): a batch H has N examples (rows) and n
   features.

     augmented H          Hhat = [e, H]
     mean H, variance H, deviation H      mu_H, sigma_H^2 and sigma_H of (13), columns
     centring mu          U = [[1, -mu'], [0, I]]
     scaling s            D = [[1, 0], [0, diag(s)]]^-1
     preconditioner mu s  P = U D
     centred H mu         H - e mu'
     features H mu s      G = (H - e mu') diag(s)^-1, entry by entry (h_jk - mu_k) / s_k
     normalized H mu s    Ghat = [e, G]

   mu and s are any statistics, as in Algorithm 2; the batch's own are mean H and deviation H.
   A vector of bias and weights (or of as many numbers) is stack t x = (t, x). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Definitions.
Variables (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)).

Definition augmented : 'M[R]_(N, 1 + n) := row_mx (e N) H.

Definition mean : 'cV[R]_n := N%:R^-1 *: (H^T *m e N).
Definition variance : 'cV[R]_n := \col_k (N%:R^-1 * \sum_j (H j k - mean k 0) ^+ 2).
Definition deviation : 'cV[R]_n := \col_k Num.sqrt (variance k 0).

Definition centring (mu : 'cV[R]_n) : 'M[R]_(1 + n) := block_mx 1%:M (- mu^T) 0 1%:M.
Definition scaling (s : 'cV[R]_n) : 'M[R]_(1 + n) := invmx (block_mx 1%:M 0 0 (diag_mx s^T)).
Definition preconditioner (mu s : 'cV[R]_n) : 'M[R]_(1 + n) := centring mu *m scaling s.

Definition centred (mu : 'cV[R]_n) : 'M[R]_(N, n) := H - e N *m mu^T.
Definition features (mu s : 'cV[R]_n) : 'M[R]_(N, n) := \matrix_(j, k) ((H j k - mu k 0) / s k 0).
Definition normalized (mu s : 'cV[R]_n) : 'M[R]_(N, 1 + n) := row_mx (e N) (features mu s).

Definition stack (t : R) (x : 'cV[R]_n) : 'cV[R]_(1 + n) := col_mx t%:M x.
End Definitions.

Section Identities.
Variables (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)).
Implicit Types (mu s x : 'cV[R]_n).

(* ---- U, D and P ---- *)

Lemma scalingE s : (forall k, s k 0 != 0) ->
  scaling s = block_mx 1%:M 0 0 (diag_mx (\row_k (s k 0)^-1)).
Proof.
move=> s0; set D := (X in _ = X); pose E : 'M[R]_(1 + n) := block_mx 1%:M 0 0 (diag_mx s^T).
have ED : E *m D = 1%:M.
  rewrite /E /D mulmx_block !mul0mx !mulmx0 !mulmx1 !addr0 add0r mulmx_diag.
  rewrite [diag_mx _](_ : _ = 1%:M) -?scalar_mx_block //.
  by apply/matrixP => i j; rewrite !mxE divff.
by rewrite /scaling -/E -[RHS]mul1mx -(mulVmx (mulmx1_unit ED).1) -mulmxA ED mulmx1.
Qed.

(* Section 3.3, after Theorem 3: Hhat U = [e, H - e mu'], for any means. *)
Lemma augmented_centring mu : augmented H *m centring mu = row_mx (e N) (centred H mu).
Proof. by rewrite mul_row_block mulmx1 mulmx0 addr0 mulmxN mulmx1 addrC. Qed.

(* Equation (14): Hhat P = [e, G], for any means and any deviations that are not zero. *)
Lemma augmented_preconditioner mu s : (forall k, s k 0 != 0) ->
  augmented H *m preconditioner mu s = normalized H mu s.
Proof.
move=> s0; rewrite mulmxA augmented_centring scalingE // mul_row_block !mulmx0 mulmx1 addr0 add0r.
by congr row_mx; apply/matrixP => j k; rewrite mul_mx_diag !mxE big_ord1 !mxE mul1r.
Qed.

Lemma features_centred mu s : features H mu s = centred H mu *m diag_mx (\row_k (s k 0)^-1).
Proof. by apply/matrixP => j k; rewrite mul_mx_diag !mxE big_ord1 !mxE mul1r. Qed.

(* D as a diagonal matrix. *)
Definition scales s : 'rV[R]_(1 + n) := row_mx (const_mx 1) (\row_k (s k 0)^-1).
Lemma scaling_diagonal s : (forall k, s k 0 != 0) -> scaling s = diag_mx (scales s).
Proof.
move=> s0; rewrite scalingE // diag_mx_row; congr block_mx.
by apply/matrixP => i j; rewrite !mxE !ord1 mulr1n.
Qed.

(* The text's remark after Theorem 4: if the mean is zero, U is the identity. *)
Lemma centring_of_centred : mean H = 0 -> centring (mean H) = 1%:M.
Proof. by move=> ->; rewrite /centring trmx0 oppr0 -scalar_mx_block. Qed.

(* What follows needs a batch: N > 0. *)
Hypothesis N_gt0 : (0 < N)%N.
Lemma NR_gt0 : 0 < N%:R :> R. Proof. by rewrite ltr0n. Qed.
Lemma NR_neq0 : N%:R != 0 :> R. Proof. by rewrite gt_eqF // NR_gt0. Qed.

Lemma meanE k : mean H k 0 = N%:R^-1 * \sum_j H j k.
Proof. by rewrite !mxE; congr (_ * _); apply: eq_bigr => j _; rewrite !mxE mulr1. Qed.
Lemma sum_deviations k : \sum_j (H j k - mean H k 0) = 0.
Proof.
by rewrite sumrB sumr_const card_ord -mulr_natl meanE mulrA mulfV ?NR_neq0 // mul1r subrr.
Qed.

(* (H - e mu_H')' e = 0. *)
Lemma centred_orthogonal : (centred H (mean H))^T *m e N = 0.
Proof.
apply/matrixP => k c; rewrite !mxE -[RHS](sum_deviations k); apply: eq_bigr => j _.
by rewrite !mxE big_ord1 !mxE mulr1 mul1r.
Qed.

(* sigma_H^2 is the mean square of the columns of H - e mu_H'. *)
Lemma variance_centred k : variance H k 0 = N%:R^-1 * sq (col k (centred H (mean H))).
Proof.
rewrite mxE sq_column; congr (_ * _); apply: eq_bigr => j _.
by rewrite !mxE big_ord1 !mxE mul1r.
Qed.
Lemma variance_ge0 k : 0 <= variance H k 0.
Proof. by rewrite variance_centred mulr_ge0 ?invr_ge0 ?ler0n ?sq_ge0. Qed.
Lemma deviation_square k : deviation H k 0 ^+ 2 = variance H k 0.
Proof. by rewrite mxE sqr_sqrtr ?variance_ge0. Qed.
Lemma deviation_neq0 k : (deviation H k 0 != 0) = (0 < variance H k 0).
Proof. by rewrite -sqrf_eq0 deviation_square lt_def variance_ge0 andbT. Qed.

(* Theorem 3: "normalized to have zero mean and unit variance", no feature being constant. *)
Lemma normalized_mean k : \sum_j features H (mean H) (deviation H) j k = 0.
Proof.
under eq_bigr do rewrite mxE; rewrite -big_distrl /=.
by rewrite sum_deviations mul0r.
Qed.
Lemma normalized_variance k : 0 < variance H k 0 ->
  (\sum_j features H (mean H) (deviation H) j k ^+ 2) / N%:R = 1.
Proof.
move=> v0; under eq_bigr do rewrite mxE expr_div_n deviation_square.
rewrite -big_distrl /= mulrAC [_ / N%:R]mulrC.
have -> : N%:R^-1 * (\sum_j (H j k - mean H k 0) ^+ 2) = variance H k 0 by rewrite [RHS]mxE.
by rewrite mulfV // gt_eqF.
Qed.

(* ---- quadratic forms: (28) and (29), and the block diagonal form ---- *)

Lemma stackE (z : 'cV[R]_(1 + n)) : exists t x, z = stack t x.
Proof.
exists (z 0 0), (dsubmx z); rewrite -[LHS]vsubmxK; congr col_mx.
by apply/matrixP => i j; rewrite !ord1 !mxE mulr1n; congr (z _ _); apply/val_inj.
Qed.
Lemma sq_stack t x : sq (stack t x) = t ^+ 2 + sq x.
Proof. by rewrite sq_col_mx sq_scalar. Qed.
Lemma dot_stack t x t2 y : dot (stack t x) (stack t2 y) = t * t2 + dot x y.
Proof. by rewrite dot_col_mx dot_scalar. Qed.
Lemma augmented_stack (F : 'M[R]_(N, n)) t x : augmented F *m stack t x = t *: e N + F *m x.
Proof. by rewrite mul_row_col mul_mx_scalar. Qed.
Lemma centred_mul mu x : centred H mu *m x = H *m x - dot mu x *: e N.
Proof.
rewrite mulmxBl -mulmxA; congr (_ - _); rewrite -mul_mx_scalar; congr (_ *m _).
apply/matrixP => i j; rewrite !ord1 mxE dot_column !mxE mulr1n.
by apply: eq_bigr => k _; rewrite mxE.
Qed.
Lemma centring_stack mu t x : centring mu *m stack t x = stack (t - dot mu x) x.
Proof.
rewrite mul_block_col mul0mx add0r !mul1mx; congr col_mx.
apply/matrixP => i j; rewrite !ord1 mulNmx !mxE !mulr1n; congr (_ - _).
by rewrite dot_column; apply: eq_bigr => k _; rewrite mxE.
Qed.

Lemma dot_e_mul x : dot (e N) (H *m x) = N%:R * dot (mean H) x.
Proof. by rewrite dotC dot_mul dotC /mean dotZl mulrA mulfV ?NR_neq0 // mul1r. Qed.
Lemma dot_e_centred x : dot (e N) (centred H (mean H) *m x) = 0.
Proof. by rewrite centred_mul dotBr dotZr dot_e_mul -/(sq _) sq_e mulrC subrr. Qed.

(* Equation (29). *)
Lemma sq_augmented t x :
  sq (augmented H *m stack t x) = N%:R * (t ^+ 2 + 2 * t * dot (mean H) x) + sq (H *m x).
Proof.
by rewrite augmented_stack sqD sqZ sq_e dotZl dot_e_mul; ring.
Qed.

(* Equation (28). *)
Lemma sq_centring t x : sq (augmented H *m centring (mean H) *m stack t x) =
  N%:R * (t ^+ 2 - dot (mean H) x ^+ 2) + sq (H *m x).
Proof. by rewrite -mulmxA centring_stack sq_augmented; ring. Qed.

(* Above (28): U' Hhat' Hhat U is the block diagonal of N and the centred Gram matrix. *)
Lemma block_diagonal t x : sq (augmented H *m centring (mean H) *m stack t x) =
  N%:R * t ^+ 2 + sq (centred H (mean H) *m x).
Proof.
rewrite augmented_centring -/(augmented _) augmented_stack sqD sqZ sq_e dotZl dot_e_centred; ring.
Qed.

Lemma sq_centred x : sq (centred H (mean H) *m x) = sq (H *m x) - N%:R * dot (mean H) x ^+ 2.
Proof.
have := sq_centring 0 x; rewrite block_diagonal expr0n mulr0 add0r => ->.
by rewrite sub0r mulrN addrC.
Qed.

(* Hhat (-mu_H' x, x) = (H - e mu_H') x. *)
Lemma augmented_lifted mu x : augmented H *m stack (- dot mu x) x = centred H mu *m x.
Proof. by rewrite augmented_stack centred_mul addrC scaleNr. Qed.
End Identities.

(* Section 4, below Proposition 10: the norm of a convolution layer's normalized matrix is at least
   root (N r s), that of its column of ones.

   Hhat = [e, H] of (18) has a row for each pixel of each example; P is of its own statistics. *)
From mathcomp Require Import all_ssreflect all_algebra.
From BatchNorm Require Import InnerProduct ConditionNumber Preconditioning.
From BatchNorm.lange2022 Require Import theorem_4_scaling norm_of_features lemma_8 algorithm_3.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Maps.
Variables (R : rcfType) (N r s c k : nat) (h : 'I_N -> 'I_c -> 'M[R]_(r, s)).

(* H of (18), without the column of ones. *)
Definition unfolded_maps : 'M[R]_(\sum_(i < N) s * r, \sum_(p < c) k * k) :=
  rsubmx (unfolded_batch k h).

Lemma unfolded_augmented : unfolded_batch k h = augmented unfolded_maps.
Proof.
rewrite -[LHS]hsubmxK /augmented; congr row_mx.
by apply/matrixP => i j; rewrite !mxE -[lshift _ j]/(unsplit (inl j)) unsplitK mxE.
Qed.
End Maps.

Lemma rows_of_maps (R : rcfType) N r s :
  (\sum_(i < N) s * r)%:R = N%:R * r%:R * s%:R :> R.
Proof. by rewrite sum_nat_const card_ord !natrM mulrAC mulrA. Qed.

(* Whatever the first row of a preconditioner has besides its 1, the column of ones stays. *)
Theorem first_column_of_maps (R : rcfType) N r s c k (h : 'I_N -> 'I_c -> 'M[R]_(r, s)) mu D :
  let P := block_mx 1%:M (- mu^T) 0 D : 'M[R]_(1 + \sum_(p < c) k * k) in
  sq (lsubmx (unfolded_batch k h *m P)) = N%:R * r%:R * s%:R.
Proof.
move=> P; rewrite /P unfolded_augmented /augmented mul_row_block row_mxKl mulmx1 mulmx0 addr0.
by rewrite sq_e rows_of_maps.
Qed.

(* The text's estimate of the norm, over its q. *)
Theorem estimate_over_q (R : rcfType) (N r s c k : nat) : (0 < N)%N -> (0 < r)%N -> (0 < s)%N ->
  Num.max (k%:R ^+ 2 * c%:R) (N%:R * Num.sqrt (r%:R * s%:R)) /
  Num.max (k%:R ^+ 2 * c%:R / N%:R) (Num.sqrt (r%:R * s%:R)) = N%:R :> R.
Proof.
move=> N0 r0 s0; set a := _ * c%:R; set b := Num.sqrt _; have NR : 0 < N%:R :> R by rewrite ltr0n.
have b0 : 0 < b by rewrite sqrtr_gt0 mulr_gt0 ?ltr0n.
have -> : Num.max a (N%:R * b) = N%:R * Num.max (a / N%:R) b.
  by rewrite maxr_pmulr ?ltW // mulrCA mulfV ?gt_eqF // mulr1.
by rewrite mulfK // gt_eqF // lt_maxr b0 orbT.
Qed.

(* What centring by other means leaves in the columns, ... *)
Lemma centred_ones (R : rcfType) N n (H : 'M[R]_(N, n)) m :
  (centred H m)^T *m e N = N%:R *: (mean H - m).
Proof.
have ones : N%:R *: m = m *m (e N)^T *m e N.
  apply/matrixP => i j; rewrite -mulmxA !mxE big_ord1 !ord1 !mxE mulrC; congr (_ * _).
  by under eq_bigr do rewrite !mxE mulr1; rewrite sumr_const card_ord.
rewrite /centred linearB /= mulmxBl trmx_mul trmxK -ones scalerBr; congr (_ - _).
case: N H {ones} => [|N] H; last by rewrite /mean scalerA mulfV ?scale1r ?pnatr_eq0.
by rewrite scale0r; apply/matrixP => i j; rewrite !mxE big_ord0.
Qed.

(* ... such as a channel's mean in each of its. *)
Theorem centring_of_maps (R : rcfType) N r s c k (h : 'I_N -> 'I_c -> 'M[R]_(r, s))
    (mu : 'I_c -> R) :
  let H := unfolded_maps k h in let m := repeated k mu in
  (centred H m)^T *m e _ = (N%:R * r%:R * s%:R) *: (mean H - m).
Proof. by move=> H m; rewrite -rows_of_maps; apply: centred_ones. Qed.

Theorem norm_of_maps_corrected (R : rcfType) N r s c k (h : 'I_N -> 'I_c -> 'M[R]_(r, s)) sigma :
  let Hhat := unfolded_batch k h in let H := unfolded_maps k h in
  no_constant_feature H ->
  largest_singular_value (Hhat *m preconditioner (mean H) (deviation H)) sigma ->
  N%:R * r%:R * s%:R <= sigma ^+ 2.
Proof.
move=> Hhat H spread norm; rewrite -rows_of_maps.
case: (posnP (\sum_(i < N) s * r)) => [->|some]; first exact: sqr_ge0.
have := norm_bound norm (stack 1 0); rewrite /Hhat unfolded_augmented augmented_preconditioner.
  rewrite -/(augmented _) augmented_stack mulmx0 addr0 scale1r sq_e sq_stack sq0 addr0 expr1n.
  by rewrite mulr1.
by move=> p; rewrite deviation_neq0 //; apply: spread.
Qed.

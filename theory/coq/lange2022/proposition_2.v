(* Proposition 2: the Hessian of the mean loss in one unit's bias and weights is Hhat' S Hhat.

   The unit's output for example j is (Hhat w)_j, w = (b, w_1, ..., w_n).  The loss of a single
   example is a function L_j of it, another one for every example: it depends on the label and on
   the other units.  S is the diagonal of the L_j'' divided by N.

   For a loss that is not a mean of losses of single examples, as under a later layer of Batch
   Normalization, S is the full Hessian in the outputs. *)
From mathcomp Require Import all_ssreflect all_algebra.
From BatchNorm Require Import InnerProduct Preconditioning Differentiation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section MeanLoss.
Variables (R : rcfType) (N : nat) (L : 'I_N -> R -> R).

(* The mean loss over the batch, of one unit's outputs a. *)
Definition mean_loss (a : 'cV[R]_N) : R := N%:R^-1 * \sum_j L j (a j 0).

(* S of (11). *)
Definition curvature (l : 'I_N -> R) : 'M[R]_N := diag_mx (\row_j (N%:R^-1 * l j)).
End MeanLoss.

(* For any matrix in the place of Hhat, which is Theorem 3 with Hhat P. *)
Lemma mean_loss_hessian (R : rcfType) N p (F : 'M[R]_(N, p)) (L : 'I_N -> R -> R) (w : 'cV[R]_p) l :
  (forall j, second_derivative (L j) ((F *m w) j 0) (l j)) ->
  is_hessian (fun w => mean_loss L (F *m w)) w (F^T *m curvature l *m F).
Proof.
move=> each; pose u j : 'cV[R]_p := (row j F)^T.
have out j (v : 'cV_p) : (F *m v) j 0 = dot (u j) v.
  by rewrite mxE dot_column; apply: eq_bigr => k _; rewrite !mxE.
have -> : F^T *m curvature l *m F = N%:R^-1 *: \sum_j l j *: (u j *m (u j)^T).
  apply/matrixP => i k; rewrite mul_mx_diag !mxE summxE big_distrr; apply: eq_bigr => j _.
  by rewrite !mxE big_ord1 !mxE /= [F j i * _]mulrC -!mulrA.
apply: hessian_scale; apply: (@hessian_ext _ _ (fun w => \sum_j L j (dot (u j) w))) => [v|].
  by apply: eq_bigr => j _; rewrite out.
by apply: hessian_sum => j; apply: hessian_ridge; rewrite -out.
Qed.

(* Proposition 2 as printed. *)
Theorem proposition_2 (R : rcfType) N n (H : 'M[R]_(N, n)) (L : 'I_N -> R -> R) (w : 'cV[R]_(1 + n))
    (L2 : 'I_N -> R) :
  let Hhat := augmented H in
  (forall j, second_derivative (L j) ((Hhat *m w) j 0) (L2 j)) ->
  is_hessian (fun w => mean_loss L (Hhat *m w)) w (Hhat^T *m curvature L2 *m Hhat).
Proof. by move=> Hhat; apply: mean_loss_hessian. Qed.

(* For any loss of the batch's outputs: T, the full Hessian in them, takes the place of S. *)
Theorem proposition_2_any_loss (R : rcfType) N n (H : 'M[R]_(N, n)) (f : 'cV[R]_N -> R)
    (w : 'cV[R]_(1 + n)) (T : 'M[R]_N) :
  let Hhat := augmented H in
  is_hessian f (Hhat *m w) T ->
  is_hessian (fun w => f (Hhat *m w)) w (Hhat^T *m T *m Hhat).
Proof. by move=> Hhat; apply: hessian_linear. Qed.

(* The Hessian: there is no other. *)
Theorem hessian_is_unique (R : rcfType) n (f : 'cV[R]_n -> R) (x : 'cV[R]_n) (T V : 'M[R]_n) :
  is_hessian f x T -> is_hessian f x V -> T = V.
Proof. exact: hessian_unique. Qed.

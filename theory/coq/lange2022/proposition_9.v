(* Proposition 9: the Hessian in one output channel's bias and kernels is H^' S H^, S block
   diagonal: a block for each example, the Hessian of its loss in the pixels of its output, divided
   by N.

   The loss of example i is a function L_i of vec a^(i), another one for every example.  The blocks
   are full, since the pixels of an example may interact. *)
From mathcomp Require Import all_ssreflect all_algebra.
From BatchNorm Require Import InnerProduct Differentiation Convolution.
From BatchNorm.lange2022 Require Import lemma_8.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* The bias and the kernels in a column w^. *)
Section Unstack.
Variables (R : rcfType) (c k : nat).
Definition bias_of (v : 'cV[R]_(1 + \sum_(p < c) k * k)) : R := v 0 0.
Definition kernel_of (v : 'cV[R]_(1 + \sum_(p < c) k * k)) (p : 'I_c) : 'M[R]_(k, k) :=
  \matrix_(u, i) submxcol (dsubmx v) p (number (u, i)) 0.

Lemma unstack v : stacked (kernel_of v) (bias_of v) = v.
Proof.
rewrite -[RHS]vsubmxK; congr col_mx.
  by apply/matrixP => i j; rewrite !ord1 !mxE mulr1n; congr (v _ _); apply/val_inj.
rewrite -[RHS]submxcolK; apply: eq_mxcol => p; apply/matrixP => t j.
by rewrite !ord1 !mxE number_of.
Qed.
End Unstack.

(* The mean loss of a batch, as a function of w^: the convolution is carried out. *)
Definition convolution_loss (R : rcfType) N r s c k (h : 'I_N -> 'I_c -> 'M[R]_(r, s))
    (L : 'I_N -> 'cV[R]_(s * r) -> R) (v : 'cV[R]_(1 + \sum_(p < c) k * k)) : R :=
  N%:R^-1 * \sum_i L i (vec (layer (h i) (kernel_of v) (bias_of v))).

Theorem proposition_9 (R : rcfType) N r s c k (h : 'I_N -> 'I_c -> 'M[R]_(r, s))
    (L : 'I_N -> 'cV[R]_(s * r) -> R) (v : 'cV[R]_(1 + \sum_(p < c) k * k))
    (T : 'I_N -> 'M[R]_(s * r)) :
  odd k ->
  (forall i, is_hessian (L i) (vec (layer (h i) (kernel_of v) (bias_of v))) (T i)) ->
  let F := unfolded_batch k h in let S := \mxdiag_i (N%:R^-1 *: T i) in
  is_hessian (convolution_loss h L) v (F^T *m S *m F).
Proof.
move=> ok each F S; pose A i := unfolded_example k (h i).
have out i u : vec (layer (h i) (kernel_of u) (bias_of u)) = A i *m u.
  by rewrite vec_layer // unstack.
have -> : F^T *m S *m F = N%:R^-1 *: \sum_i ((A i)^T *m T i *m A i).
  rewrite /F /S /unfolded_batch tr_mxcol -mulmxA mul_mxdiag_mxcol mul_mxrow_mxcol scaler_sumr.
  by apply: eq_bigr => i _; rewrite -scalemxAl -scalemxAr mulmxA.
apply: hessian_scale; apply: (@hessian_ext _ _ (fun u => \sum_i L i (A i *m u))) => [u|].
  by apply: eq_bigr => i _; rewrite out.
by apply: hessian_sum => i; apply: hessian_linear; rewrite -out.
Qed.

(* For any loss of the batch's outputs, one below the other, their full Hessian takes the place of
   S. *)
Theorem proposition_9_any_loss (R : rcfType) N r s c k (h : 'I_N -> 'I_c -> 'M[R]_(r, s))
    (f : 'cV[R]_(\sum_(i < N) s * r) -> R) (v : 'cV[R]_(1 + \sum_(p < c) k * k))
    (T : 'M[R]_(\sum_(i < N) s * r)) :
  let F := unfolded_batch k h in
  let outputs := fun v => \mxcol_i vec (layer (h i) (kernel_of v) (bias_of v)) in
  odd k -> is_hessian f (outputs v) T -> is_hessian (fun v => f (outputs v)) v (F^T *m T *m F).
Proof.
move=> F outputs ok fT; have out u : outputs u = F *m u by rewrite /outputs lemma_8 // unstack.
apply: (@hessian_ext _ _ (fun u => f (F *m u))) => [u|]; first by rewrite out.
by apply: hessian_linear; rewrite -out.
Qed.

(* Lines of its proof: the outputs are linear in w^, so that their derivative is H^; ... *)
Theorem derivative_of_outputs (R : rcfType) N r s c k (h : 'I_N -> 'I_c -> 'M[R]_(r, s))
    (v : 'cV[R]_(1 + \sum_(p < c) k * k)) :
  let outputs := fun v => \mxcol_i vec (layer (h i) (kernel_of v) (bias_of v)) in
  odd k -> is_jacobian outputs v (unfolded_batch k h).
Proof.
move=> outputs ok; have out u : outputs u = unfolded_batch k h *m u.
  by rewrite /outputs lemma_8 // unstack.
move=> epsilon e0; exists 1 => [|d _]; first exact: ltr01.
by rewrite !out mulmxDr addrAC addrK subrr norm0 mulr_ge0 ?norm_ge0 // ltW.
Qed.

(* ... and the chain rule. *)
Theorem gradient_in_channel (R : rcfType) N r s c k (h : 'I_N -> 'I_c -> 'M[R]_(r, s))
    (f : 'cV[R]_(\sum_(i < N) s * r) -> R) (v x : 'cV[R]_(1 + \sum_(p < c) k * k)) g gv :
  let outputs := fun v => \mxcol_i vec (layer (h i) (kernel_of v) (bias_of v)) in
  odd k -> is_gradient f (outputs v) g -> is_gradient (fun v => f (outputs v)) v gv ->
  dot gv x = dot g (unfolded_batch k h *m x).
Proof.
move=> outputs ok fg; have out u : outputs u = unfolded_batch k h *m u.
  by rewrite /outputs lemma_8 // unstack.
have linear : is_gradient (fun u => f (unfolded_batch k h *m u)) v ((unfolded_batch k h)^T *m g).
  by apply: gradient_linear; rewrite -out.
move=> fgv; have -> : gv = (unfolded_batch k h)^T *m g.
  by apply: gradient_unique linear => epsilon /fgv[delta d0 A]; exists delta => // d /A; rewrite !out.
by rewrite dot_mul trmxK.
Qed.

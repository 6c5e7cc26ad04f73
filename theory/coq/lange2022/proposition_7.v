(* Proposition 7: a layer after Batch Normalization is a vanilla layer, and a step of gradient
   descent in it, the statistics held fixed, is a step of BNP in the vanilla layer.

     W ((h - mu)/s) + b = W^ h + b^,    W^ = W diag(1/s),  b^ = b - W (mu/s)

   (the text prints W diag(mu/s), a matrix, for the vector W (mu/s)).  So [b^; W^'] = P [b; W'].
   BNP is preconditioned by (1/q) P: the steps agree at the learning rate q^2 alpha, at one rate if
   q = 1.

   N examples, n inputs, p outputs; the loss is any differentiable function of the N x p outputs. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct Preconditioning Differentiation.
From BatchNorm.lange2022 Require Import equation_15.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Layers.
Variables (R : rcfType) (N n p : nat).
Implicit Types (H : 'M[R]_(N, n)) (W : 'M[R]_(p, n)) (b : 'rV[R]_p) (mu s : 'cV[R]_n).

(* The outputs W h_j + b of a dense layer, example by example. *)
Definition dense H W b : 'M[R]_(N, p) := \matrix_(j, i) (\sum_k W i k * H j k + b 0 i).

Definition folded_weights W s : 'M[R]_(p, n) := \matrix_(i, k) (W i k / s k 0).
Definition folded_bias W b mu s : 'rV[R]_p :=
  \row_i (b 0 i - \sum_k W i k * (mu k 0 / s k 0)).

Lemma denseE H W b : dense H W b = H *m W^T + e N *m b.
Proof.
apply/matrixP => j i; rewrite !mxE big_ord1 !mxE mul1r; congr (_ + _).
by apply: eq_bigr => k _; rewrite !mxE mulrC.
Qed.
Lemma dense_parameters H W b : dense H W b = augmented H *m parameters W b.
Proof. by rewrite denseE mul_row_col addrC. Qed.

Lemma vanilla H W b mu s : (forall k, s k 0 != 0) ->
  dense (features H mu s) W b = dense H (folded_weights W s) (folded_bias W b mu s).
Proof.
move=> s0; apply/matrixP => j i; rewrite !mxE addrCA -sumrB [RHS]addrC; congr (_ + _).
by apply: eq_bigr => k _; rewrite !mxE; field; exact: s0.
Qed.

Lemma folded_parameters W b mu s : (forall k, s k 0 != 0) ->
  parameters (folded_weights W s) (folded_bias W b mu s) = preconditioner mu s *m parameters W b.
Proof.
move=> s0; rewrite preconditioner_block // mul_block_col mul1mx mul0mx add0r mulNmx.
congr col_mx; apply/matrixP => i j; last by rewrite mul_diag_mx !mxE mulrC.
rewrite !ord1 !mxE; congr (_ - _); apply: eq_bigr => k _.
by rewrite mul_mx_diag !mxE mulrC.
Qed.

(* ---- gradients in the weights and in the bias ---- *)

Lemma gradient_weights H (loss : 'M[R]_(N, p) -> R) W b g : is_gradient loss (dense H W b) g ->
  is_gradient (fun W => loss (dense H W b)) W (g^T *m H).
Proof.
apply: (gradient_affine (phi := fun d => H *m d^T) (psi := fun g => g^T *m H) (c := norm H)).
- by move=> d; rewrite !denseE linearD mulmxDr addrAC.
- by move=> d; rewrite !dot_trace mulmxA mxtrace_mulC -mxtrace_tr trmx_mul trmxK.
move=> d; apply: le_trans (norm_mul_le _ _) _; rewrite ler_wpmul2l ?norm_ge0 //.
by rewrite /norm /sq !dot_trace trmxK mxtrace_mulC.
Qed.
Lemma gradient_bias H (loss : 'M[R]_(N, p) -> R) W b g : is_gradient loss (dense H W b) g ->
  is_gradient (fun b => loss (dense H W b)) b ((e N)^T *m g).
Proof.
apply: (gradient_affine (phi := fun d => e N *m d) (psi := fun g => (e N)^T *m g) 
  (c := norm (e N))).
- by move=> d; rewrite !denseE mulmxDr addrA.
- by move=> d; rewrite dotC dot_mul dotC.
exact: norm_mul_le.
Qed.
Lemma gradient_parameters H (g : 'M[R]_(N, p)) :
  parameters (g^T *m H) ((e N)^T *m g) = (augmented H)^T *m g.
Proof. by rewrite /parameters trmx_mul trmxK tr_row_mx mul_col_mx. Qed.
End Layers.

(* The vanilla layer, for any statistics. *)
Theorem proposition_7_corrected (R : rcfType) N n p (H : 'M[R]_(N, n)) (W : 'M[R]_(p, n))
    (b : 'rV[R]_p) (mu s : 'cV[R]_n) :
  (forall k, s k 0 != 0) ->
  dense (features H mu s) W b = dense H (folded_weights W s) (folded_bias W b mu s).
Proof. exact: vanilla. Qed.

(* One step at the learning rate alpha, folded, is one step of BNP at q^2 alpha.  gW and gb are the
   gradients in W and b above the normalized features, hW and hb those in W^ and b^ of the vanilla
   layer. *)
Theorem proposition_7_step_with_q (R : rcfType) N n p (H : 'M[R]_(N, n)) (W : 'M[R]_(p, n))
    (b : 'rV[R]_p) (mu s : 'cV[R]_n) (loss : 'M[R]_(N, p) -> R) (alpha q : R) g gW gb hW hb :
  let P := preconditioner mu s in let G := features H mu s in
  let What := folded_weights W s in let bhat := folded_bias W b mu s in
  (forall k, s k 0 != 0) -> q != 0 ->
  is_gradient loss (dense G W b) g ->
  is_gradient (fun W => loss (dense G W b)) W gW ->
  is_gradient (fun b => loss (dense G W b)) b gb ->
  is_gradient (fun What => loss (dense H What bhat)) What hW ->
  is_gradient (fun bhat => loss (dense H What bhat)) bhat hb ->
  parameters (folded_weights (W - alpha *: gW) s)
    (folded_bias (W - alpha *: gW) (b - alpha *: gb) mu s) =
  parameters What bhat - (q ^+ 2 * alpha) *: ((1 / q ^+ 2) *: (P *m P^T *m parameters hW hb)).
Proof.
move=> P G What bhat s0 q0 lg LW Lb MW Mb.
have lg' : is_gradient loss (dense H What bhat) g by rewrite -vanilla.
rewrite (gradient_unique LW (gradient_weights lg)) (gradient_unique Lb (gradient_bias lg)).
rewrite (gradient_unique MW (gradient_weights lg')) (gradient_unique Mb (gradient_bias lg')).
rewrite !folded_parameters // gradient_parameters scalerA.
have -> : q ^+ 2 * alpha * (1 / q ^+ 2) = alpha by field.
have -> : parameters (W - alpha *: (g^T *m G)) (b - alpha *: ((e N)^T *m g)) =
    parameters W b - alpha *: ((augmented G)^T *m g).
  rewrite -gradient_parameters /parameters scale_col_mx opp_col_mx add_col_mx.
  by congr col_mx; rewrite linearB linearZ.
rewrite mulmxBr -scalemxAr; congr (_ - _ *: _).
have -> : augmented G = augmented H *m P by rewrite augmented_preconditioner.
by rewrite trmx_mul !mulmxA.
Qed.

(* Proposition 7 as printed, q = 1: one learning rate. *)
Theorem proposition_7_step (R : rcfType) N n p (H : 'M[R]_(N, n)) (W : 'M[R]_(p, n))
    (b : 'rV[R]_p) (mu s : 'cV[R]_n) (loss : 'M[R]_(N, p) -> R) (alpha : R) g gW gb hW hb :
  let P := preconditioner mu s in let G := features H mu s in
  let What := folded_weights W s in let bhat := folded_bias W b mu s in
  (forall k, s k 0 != 0) ->
  is_gradient loss (dense G W b) g ->
  is_gradient (fun W => loss (dense G W b)) W gW ->
  is_gradient (fun b => loss (dense G W b)) b gb ->
  is_gradient (fun What => loss (dense H What bhat)) What hW ->
  is_gradient (fun bhat => loss (dense H What bhat)) bhat hb ->
  parameters (folded_weights (W - alpha *: gW) s)
    (folded_bias (W - alpha *: gW) (b - alpha *: gb) mu s) =
  parameters What bhat - alpha *: (P *m P^T *m parameters hW hb).
Proof.
move=> P G What bhat s0 lg LW Lb MW Mb.
rewrite (proposition_7_step_with_q alpha s0 (oner_neq0 R) lg LW Lb MW Mb).
by rewrite expr1n mul1r divr1 scale1r.
Qed.

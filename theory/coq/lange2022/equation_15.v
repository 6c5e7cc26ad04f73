(* Equations (7), (8) and (15), and Algorithm 2: preconditioned gradient descent.

   With theta = P z a step of gradient descent in z is one in theta preconditioned by P P', (8).
   For a dense layer the parameters are [b; W'], a column for each output, and P = U D of (12)
   divided by q: steps 4 and 5 of Algorithm 2, in this order, are the product with P P'/q^2. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct Preconditioning Differentiation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* ---- (7) and (8), for any P and any differentiable loss ---- *)

Theorem equation_7 (R : rcfType) m n q (P : 'M[R]_(m, n)) (f : 'M[R]_(m, q) -> R) z g :
  is_gradient f (P *m z) g -> is_gradient (fun z => f (P *m z)) z (P^T *m g).
Proof. exact: gradient_linear. Qed.

Theorem equation_7_hessian (R : rcfType) m n (P : 'M[R]_(m, n)) (f : 'cV[R]_m -> R) z T :
  is_hessian f (P *m z) T -> is_hessian (fun z => f (P *m z)) z (P^T *m T *m P).
Proof. exact: hessian_linear. Qed.

(* g is the gradient in theta, h the one in z, alpha the learning rate. *)
Theorem equation_8 (R : rcfType) m n q (P : 'M[R]_(m, n)) (f : 'M[R]_(m, q) -> R) z g h alpha :
  is_gradient f (P *m z) g -> is_gradient (fun z => f (P *m z)) z h ->
  P *m (z - alpha *: h) = P *m z - alpha *: (P *m P^T *m g).
Proof.
move=> fg fh; rewrite (gradient_unique fh (gradient_linear fg)).
by rewrite mulmxBr -scalemxAr mulmxA.
Qed.

(* ---- Algorithm 2 ---- *)

Section Steps.
Variables (R : rcfType) (n p : nat).
Implicit Types (Gw : 'M[R]_(p, n)) (Gb : 'rV[R]_p) (mu s v : 'cV[R]_n) (q : R).

(* The parameters, or their gradients, as a matrix: [b; W']. *)
Definition parameters Gw Gb : 'M[R]_(1 + n, p) := col_mx Gb Gw^T.

(* sigma is the deviation tilde sigma, v its square. *)
Definition step_4 q mu v Gw Gb : 'M[R]_(p, n) :=
  \matrix_(i, j) (1 / q ^+ 2 * ((Gw i j - mu j 0 * Gb 0 i) / v j 0)).
Definition step_5 q mu Gw Gb : 'rV[R]_p :=
  \row_i (1 / q ^+ 2 * Gb 0 i - \sum_j Gw i j * mu j 0).

Lemma preconditioner_block mu s : (forall k, s k 0 != 0) ->
  let d := diag_mx (\row_k (s k 0)^-1) in
  preconditioner mu s = block_mx 1%:M (- (mu^T *m d)) 0 d.
Proof.
move=> s0 d; rewrite /preconditioner scalingE // mulmx_block !mul1mx !mul0mx !mulmx0 !addr0 !add0r.
by rewrite mulNmx.
Qed.

Lemma algorithm_2 q mu s Gw Gb : (forall k, s k 0 != 0) ->
  let P := preconditioner mu s in let v : 'cV_n := \col_k (s k 0 ^+ 2) in
  let Gw' := step_4 q mu v Gw Gb in
  parameters Gw' (step_5 q mu Gw' Gb) = (1 / q ^+ 2) *: (P *m P^T *m parameters Gw Gb).
Proof.
move=> s0 P v Gw'; set d := diag_mx (\row_k (s k 0)^-1).
have PE : P = block_mx 1%:M (- (mu^T *m d)) 0 d by apply: preconditioner_block.
pose V := d *m (d *m (Gw^T - mu *m Gb)).
have new : Gw'^T = (1 / q ^+ 2) *: V.
  rewrite /V /d !mul_diag_mx; apply/matrixP => j i; rewrite !mxE big_ord1; congr (_ * _).
  by rewrite expr2 invfM mulrC mulrA.
have -> : P *m P^T *m parameters Gw Gb = col_mx (Gb - mu^T *m V) V.
  have dT : d^T = d by apply: tr_diag_mx.
  have -> : P *m P^T *m parameters Gw Gb = P *m col_mx Gb (d *m (Gw^T - mu *m Gb)).
    rewrite -mulmxA PE tr_block_mx trmx0 trmx1 linearN /= trmx_mul trmxK dT mul_block_col mul1mx.
    by rewrite mul0mx addr0 mulNmx addrC mulmxBr !mulmxA.
  by rewrite PE mul_block_col mul1mx mul0mx add0r mulNmx -mulmxA.
clearbody Gw' V; rewrite scale_col_mx scalerBr scalemxAr -new; congr col_mx.
apply/matrixP => i j; rewrite !ord1 !mxE; congr (_ - _).
by apply: eq_bigr => k _; rewrite !mxE mulrC.
Qed.
End Steps.

(* Steps 4 and 5, the second with what the first has written: (15)'s P P'/q^2. *)
Theorem equation_15 (R : rcfType) n p (mu s : 'cV[R]_n) (q : R)
    (Gw : 'M[R]_(p, n)) (Gb : 'rV[R]_p) :
  let P := preconditioner mu s in let v : 'cV_n := \col_k (s k 0 ^+ 2) in
  let Gw' := step_4 q mu v Gw Gb in let Gb' := step_5 q mu Gw' Gb in
  (forall k, s k 0 != 0) ->
  parameters Gw' Gb' = (1 / q ^+ 2) *: (P *m P^T *m parameters Gw Gb).
Proof. by move=> P v Gw' Gb' s0; apply: algorithm_2. Qed.

(* The parameters in terms of z, by (12): theta = (1/q) P z. *)
Lemma preconditioned_parameters (R : rcfType) n p (mu s : 'cV[R]_n) (q : R)
    (W : 'M[R]_(p, n)) (b : 'rV[R]_p) : (forall k, s k 0 != 0) -> q != 0 ->
  q^-1 *: preconditioner mu s *m
    col_mx (q *: (b + (W *m mu)^T)) (q *: (diag_mx s^T *m W^T)) = parameters W b.
Proof.
move=> s0 q0; rewrite preconditioner_block //; set d := diag_mx _.
have ds : d *m (q *: (diag_mx s^T *m W^T)) = q *: W^T.
  rewrite -scalemxAr; congr (_ *: _); rewrite /d mul_diag_mx mul_diag_mx.
  by apply/matrixP => i j; rewrite !mxE mulrA mulVf ?mul1r.
rewrite -scalemxAl mul_block_col mul1mx mul0mx add0r mulNmx -mulmxA ds.
rewrite -scalemxAr -scalerBr trmx_mul addrK scale_col_mx !scalerA mulVf //.
by rewrite !scale1r.
Qed.

(* (15) is a step of gradient descent in z. *)
Theorem equation_15_descent (R : rcfType) n p (mu s : 'cV[R]_n) (q alpha : R)
    (W : 'M[R]_(p, n)) (b : 'rV[R]_p) (f : 'M[R]_(1 + n, p) -> R) g h :
  let P := preconditioner mu s in
  let z := col_mx (q *: (b + (W *m mu)^T)) (q *: (diag_mx s^T *m W^T)) in
  (forall k, s k 0 != 0) -> q != 0 ->
  is_gradient f (parameters W b) g -> is_gradient (fun z => f (q^-1 *: P *m z)) z h ->
  q^-1 *: P *m (z - alpha *: h) = parameters W b - (alpha / q ^+ 2) *: (P *m P^T *m g).
Proof.
move=> P z s0 q0; rewrite -(preconditioned_parameters mu W b s0 q0) -/P -/z => fg fh.
rewrite (equation_8 alpha fg fh); congr (_ - _).
by rewrite linearZ /= -!(scalemxAl, scalemxAr) !scalerA -exprVn expr2 mulrA.
Qed.

(* Step 3 guards the division: tilde sigma^2 = sigma^2 + eps_1 max sigma^2 + eps_2. *)
Theorem equation_15_guards (R : rcfType) N n (H : 'M[R]_(N, n)) (eps_1 eps_2 largest : R) k :
  (forall j, variance H j 0 <= largest) -> 0 <= eps_1 -> 0 <= eps_2 ->
  let guarded := variance H k 0 + eps_1 * largest + eps_2 in
  eps_1 * largest <= guarded /\ eps_2 <= guarded.
Proof.
move=> top e1 e2 guarded; have v0 := variance_ge0 H k.
have l0 : 0 <= eps_1 * largest by rewrite mulr_ge0 // (le_trans v0 (top k)).
split; last by rewrite ler_addr addr_ge0.
by rewrite /guarded -addrA addrCA ler_addl addr_ge0.
Qed.

(* Section 3.3, before Proposition 5: one learning rate for all layers.

   A layer's Hessian is a block on the diagonal of the whole one, block M f with the rows and the
   columns f of M.  An eigenvector of the block, with zeros elsewhere, has the same quotient: no
   block's largest eigenvalue is above that of the whole. *)
From mathcomp Require Import all_ssreflect all_algebra.
From BatchNorm Require Import InnerProduct ConditionNumber.
From BatchNorm.lange2022 Require Import proposition_11 gradient_descent.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Blocks.
Variables (R : rcfType) (n p : nat) (M : 'M[R]_n) (f : 'I_p -> 'I_n).

Definition block : 'M[R]_p := \matrix_(i, j) M (f i) (f j).

(* A vector of the block's parameters as one of all, zero elsewhere. *)
Definition with_zeros : 'M[R]_(n, p) := \matrix_(i, j) (i == f j)%:R.

Lemma blockE : block = with_zeros^T *m M *m with_zeros.
Proof.
apply/matrixP => i j; rewrite !mxE (bigD1 (f j)) //= big1 => [|k kj]; last first.
  by rewrite [X in _ * X]mxE (negbTE kj) mulr0.
rewrite addr0 [X in _ * X]mxE eqxx mulr1 !mxE (bigD1 (f i)) //= big1 => [|k ki].
  by rewrite addr0 !mxE eqxx mul1r.
by rewrite !mxE (negbTE ki) mul0r.
Qed.

Hypothesis injective : injective f.

Lemma with_zeros_orthogonal : with_zeros^T *m with_zeros = 1%:M.
Proof.
apply/matrixP => i j; rewrite !mxE (bigD1 (f j)) //= big1 => [|k kj].
  by rewrite addr0 !mxE eqxx mulr1 eq_sym (inj_eq injective).
by rewrite !mxE (negbTE kj) mulr0.
Qed.

Lemma block_eigenvalue l y hi : M^T = M -> eigenvector block l y -> at_least_eigenvalues M hi ->
  l <= hi.
Proof.
move=> sym [y0 By] high; have yp : 0 < sq y by rewrite sq_gt0.
rewrite -(ler_pmul2r yp) -dotZr -By blockE -!mulmxA -dot_mul.
rewrite -(sq_orthogonal y with_zeros_orthogonal); set z := with_zeros *m y.
have [Q [d [o E form im eig]]] := in_eigenbasis sym.
rewrite form E big_distrr; apply: ler_sum => i _ /=.
by rewrite ler_wpmul2r ?sqr_ge0 // (high _ _ (eig i)).
Qed.
End Blocks.

(* alpha < 2/|Hessian| needs alpha < 2/|block| of every layer, *)
Theorem one_rate_needs_blocks (R : rcfType) n p (M : 'M[R]_n) (f : 'I_p -> 'I_n)
    (alpha hi l : R) :
  semidefinite M -> 0 < alpha -> largest_eigenvalue M hi -> alpha * hi < 2 ->
  injective f -> largest_eigenvalue (block M f) l -> alpha * l < 2.
Proof.
move=> [sym _] a0 [_ high] small inj [[y ey] _]; apply: le_lt_trans small.
by rewrite ler_pmul2l //; exact: (block_eigenvalue inj sym ey high).
Qed.

(* which for layers of one parameter is an entry on the diagonal. *)
Theorem one_rate_needs (R : rcfType) n (M : 'M[R]_n) (alpha hi : R) :
  semidefinite M -> 0 < alpha -> largest_eigenvalue M hi -> alpha * hi < 2 ->
  forall l, alpha * M l l < 2.
Proof.
move=> psd a0 high small l; pose f (_ : 'I_1) := l.
apply: (one_rate_needs_blocks (f := f) psd a0 high small); first by move=> i j; rewrite !ord1.
have B (y : 'cV_1) : block M f *m y = M l l *: y.
  by apply/matrixP => i j; rewrite !mxE big_ord1 !mxE !ord1.
split=> [|k y [y0]].
  by exists (delta_mx 0 0); split; rewrite // -sq_gt0 sq_delta ltr01.
by rewrite B => /eqP; rewrite -subr_eq0 -scalerBl scaler_eq0 (negbTE y0) orbF subr_eq0 => /eqP ->.
Qed.

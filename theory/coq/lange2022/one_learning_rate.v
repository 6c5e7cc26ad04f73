(* Section 3.3, before Proposition 5: one learning rate for all layers.

   A layer's Hessian is a block on the diagonal of the whole one, block M f with the rows and the
   columns f of M.  An eigenvector of the block, with zeros elsewhere, has the same quotient: no
   block's largest eigenvalue is above that of the whole. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
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

(* That one learning rate serves each layer does not suffice; that it serves the sum of the layers'
   norms does.  l k bounds the quadratic form of M on what belongs to layer k. *)
Section Sufficient.
Variables (R : rcfType) (n p : nat) (layer : 'I_n -> 'I_p).
Implicit Types x : 'cV[R]_n.

Definition part k x : 'cV[R]_n := \col_i (if layer i == k then x i 0 else 0).
Definition bounds_layer (M : 'M[R]_n) k l :=
  forall x, dot (part k x) (M *m part k x) <= l * sq (part k x).

Lemma sum_parts x : \sum_k part k x = x.
Proof.
apply/matrixP => i j; rewrite summxE (bigD1 (layer i)) //= mxE eqxx ord1 big1 ?addr0 // => k ne.
by rewrite mxE eq_sym (negbTE ne).
Qed.
Lemma sum_sq_parts x : \sum_k sq (part k x) = sq x.
Proof.
under eq_bigr do rewrite sq_column.
rewrite exchange_big sq_column; apply: eq_bigr => i _ /=.
rewrite (bigD1 (layer i)) //= mxE eqxx big1 ?addr0 // => k ne.
by rewrite mxE eq_sym (negbTE ne) expr0n.
Qed.
End Sufficient.

Theorem one_rate_suffices_corrected (R : rcfType) n p (layer : 'I_n -> 'I_p) (M : 'M[R]_n)
    (l : 'I_p -> R) (alpha : R) (x : 'cV[R]_n) :
  semidefinite M -> 0 < alpha -> (forall k, 0 <= l k) -> (forall k, bounds_layer layer M k (l k)) ->
  alpha * (\sum_k l k) < 2 -> alpha * dot x (M *m x) <= 2 * sq x.
Proof.
move=> [sym psd] a0 l0 bounds small; have [->|x0] := eqVneq x 0.
  by rewrite dot0l sq0 !mulr0.
have [i _] : exists i, x i 0 != 0.
  apply/existsP; apply: contraNT x0; rewrite negb_exists => /forallP z.
  by apply/eqP/matrixP => i j; rewrite ord1 mxE; apply/eqP; have := z i; rewrite negbK.
have p0 : 0 < p%:R :> R by rewrite ltr0n (leq_ltn_trans _ (ltn_ord (layer i))).
pose c := 2 / alpha; have c0 : 0 < c by rewrite divr_gt0 ?ltr0n.
pose rest := (c - \sum_k l k) / p%:R; pose m k := l k + rest.
have rest0 : 0 < rest by rewrite divr_gt0 // subr_gt0 ltr_pdivl_mulr // mulrC.
have m0 k : 0 < m k by rewrite ltr_paddl.
have sum_m : \sum_k m k = c.
  rewrite big_split sumr_const card_ord -mulr_natr divfK ?gt_eqF //=.
  by rewrite addrC subrK.
pose q (y : 'cV_n) := dot y (M *m y); pose y k : 'cV_n := (c / m k) *: part layer k x - x.
have weigh (d a A B C : R) : 0 < d -> 0 < a ->
    d / a * (a / d * (a / d * A) - a / d * B - (a / d * B - C)) = a / d * A - 2 * B + d / a * C.
  by move=> d0 b0; field; rewrite !gt_eqF.
have each k : m k / c * q (y k) =
    c / m k * q (part layer k x) - 2 * dot (part layer k x) (M *m x) + m k / c * q x.
  have swap : dot x (M *m part layer k x) = dot (part layer k x) (M *m x).
    by rewrite dotC dot_mul sym.
  rewrite /q /y mulmxBr -scalemxAr !(dotBl, dotBr, dotZl, dotZr) swap.
  exact: weigh.
have : 0 <= \sum_k m k / c * q (y k).
  by apply: sumr_ge0 => k _; rewrite mulr_ge0 ?psd // divr_ge0 ?ltW.
under eq_bigr do rewrite each.
have inner : \sum_k dot (part layer k x) (M *m x) = q x.
  rewrite /q -{3}(sum_parts layer x) dotC.
  rewrite (big_morph _ (fun u v => dotDr u v (M *m x)) (dot0r _)).
  by apply: eq_bigr => k _; rewrite dotC.
rewrite big_split sumrB -mulr_sumr inner -!mulr_suml sum_m mulfV ?gt_eqF // mul1r /= => slack.
have : q x <= \sum_k c / m k * q (part layer k x).
  rewrite -subr_ge0; move: slack; move: (q x) (\sum_k _) => a b.
  by have -> : b - 2 * a + a = b - a by ring.
have : \sum_k c / m k * q (part layer k x) <= c * sq x.
  rewrite -(sum_sq_parts layer x) mulr_sumr; apply: ler_sum => k _.
  rewrite -mulrA ler_wpmul2l ?(ltW c0) // mulrC ler_pdivr_mulr // mulrC.
  by apply: le_trans (bounds k x) _; rewrite ler_wpmul2r ?sq_ge0 // ler_addl ltW.
move=> le1 le2; have := le_trans le2 le1; rewrite /c mulrAC ler_pdivl_mulr //.
by rewrite [alpha * _]mulrC.
Qed.

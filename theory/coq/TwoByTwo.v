(* Batches of two examples and two features, written out: for counterexamples.

     two_by_two p q r s    the matrix [[p, q], [r, s]], an example in each row
     pair x y              the column (x, y)
     stack t (pair x y)    the column (t, x, y): a bias and two weights *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct ConditionNumber Preconditioning.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section TwoByTwo.
Variable R : rcfType.

Definition pair (x y : R) : 'cV[R]_2 := \col_i (if i == 0 then x else y).
Definition two_by_two (p q r s : R) : 'M[R]_2 :=
  \matrix_(i, j) (if i == 0 then if j == 0 then p else q else if j == 0 then r else s).

Lemma in_two (i : 'I_2) : i = 0 \/ i = 1.
Proof. by case: i => [[|[|//]] i]; [left|right]; apply/val_inj. Qed.
Lemma sum_two (f : 'I_2 -> R) : \sum_i f i = f 0 + f 1.
Proof. by rewrite big_ord_recl big_ord1; congr (_ + f _); apply/val_inj. Qed.

(* An inequality by its slack, a multiple of a square. *)
Lemma by_square (a b x : R) n : b - a = n%:R * x ^+ 2 -> a <= b.
Proof. by move=> E; rewrite -subr_ge0 E mulr_ge0 ?ler0n ?sqr_ge0. Qed.

Lemma pairE (x : 'cV[R]_2) : exists p q, x = pair p q.
Proof.
exists (x 0 0), (x 1 0); apply/matrixP => i j; rewrite !ord1 mxE.
by case: (in_two i) => ->.
Qed.
Lemma pair0 : pair 0 0 = 0.
Proof. by apply/matrixP => i j; rewrite !mxE; case: ifP. Qed.
Lemma pair_eq0 p q : (pair p q == 0) = (p == 0) && (q == 0).
Proof.
apply/eqP/andP => [z|[/eqP -> /eqP ->]]; last exact: pair0.
by split; apply/eqP; [have := congr1 (fun v : 'cV_2 => v 0 0) z|
  have := congr1 (fun v : 'cV_2 => v 1 0) z]; rewrite !mxE.
Qed.
Lemma scale_pair l p q : l *: pair p q = pair (l * p) (l * q).
Proof. by apply/matrixP => i j; rewrite !mxE; case: ifP. Qed.
Lemma add_pair p q p' q' : pair p q + pair p' q' = pair (p + p') (q + q').
Proof. by apply/matrixP => i j; rewrite !mxE; case: ifP. Qed.
Lemma e_pair : e 2 = pair 1 1.
Proof. by apply/matrixP => i j; rewrite !mxE; case: ifP. Qed.
Lemma dot_pair p q p' q' : dot (pair p q) (pair p' q') = p * p' + q * q'.
Proof. by rewrite dot_column sum_two !mxE. Qed.
Lemma sq_pair p q : sq (pair p q) = p ^+ 2 + q ^+ 2.
Proof. by rewrite /sq dot_pair !expr2. Qed.
Lemma mul_two p q r s x y :
  two_by_two p q r s *m pair x y = pair (p * x + q * y) (r * x + s * y).
Proof.
by apply/matrixP => i j; rewrite !ord1 !mxE sum_two !mxE; case: (in_two i) => ->.
Qed.
Lemma tr_two p q r s : (two_by_two p q r s)^T = two_by_two p r q s.
Proof. by apply/matrixP => i j; rewrite !mxE; case: (in_two i) => ->; case: (in_two j) => ->. Qed.
Lemma mean_two p q r s : mean (two_by_two p q r s) = pair ((p + r) / 2) ((q + s) / 2).
Proof.
apply/matrixP => i j; rewrite !ord1 meanE sum_two !mxE mulrC.
by case: (in_two i) => ->.
Qed.
Lemma centred_two p q r s x y :
  centred (two_by_two p q r s) (pair x y) = two_by_two (p - x) (q - y) (r - x) (s - y).
Proof.
apply/matrixP => i j; rewrite !mxE big_ord1 !mxE mul1r.
by case: (in_two i) => ->; case: (in_two j) => ->.
Qed.

(* ---- with the column of ones ---- *)

Lemma tripleE (z : 'cV[R]_(1 + 2)) : exists t p q, z = stack t (pair p q).
Proof. by have [t [x ->]] := stackE z; have [p [q ->]] := pairE x; exists t, p, q. Qed.
Lemma dot_triple t p q t' p' q' :
  dot (stack t (pair p q)) (stack t' (pair p' q')) = t * t' + p * p' + q * q'.
Proof. by rewrite dot_stack dot_pair addrA. Qed.
Lemma sq_triple t p q : sq (stack t (pair p q)) = t ^+ 2 + p ^+ 2 + q ^+ 2.
Proof. by rewrite /sq dot_triple !expr2. Qed.
Lemma augmented_two p q r s t x y : augmented (two_by_two p q r s) *m stack t (pair x y) =
  pair (t + p * x + q * y) (t + r * x + s * y).
Proof. by rewrite augmented_stack mul_two e_pair scale_pair add_pair !mulr1 !addrA. Qed.

Lemma null_two p q r s t x y : t + p * x + q * y = 0 -> t + r * x + s * y = 0 ->
  augmented (two_by_two p q r s) *m stack t (pair x y) = 0.
Proof. by rewrite augmented_two => -> ->; exact: pair0. Qed.

(* (t, x, y) is an eigenvector of Hhat' Hhat to l. *)
Lemma eigenvector_two p q r s l t x y : (t != 0) || ((x != 0) || (y != 0)) ->
  (t + p * x + q * y) + (t + r * x + s * y) = l * t ->
  p * (t + p * x + q * y) + r * (t + r * x + s * y) = l * x ->
  q * (t + p * x + q * y) + s * (t + r * x + s * y) = l * y ->
  eigenvector ((augmented (two_by_two p q r s))^T *m augmented (two_by_two p q r s)) l
    (stack t (pair x y)).
Proof.
move=> nz e0 e1 e2; split.
  rewrite col_mx_eq0 pair_eq0 !negb_and; apply: contraTT nz.
  rewrite !negb_or !negbK => /andP[/eqP t0 /andP[/eqP -> /eqP ->]].
  have := congr1 (fun v : 'M_1 => v 0 0) t0; rewrite !mxE mulr1n => ->.
  by rewrite !eqxx.
rewrite -mulmxA augmented_two tr_row_mx mul_col_mx tr_two mul_two scale_col_mx.
rewrite scale_pair e1 e2 scale_scalar_mx; congr col_mx.
apply/matrixP => i j; rewrite !ord1 !mxE mulr1n -e0 sum_two !mxE.
by rewrite !mul1r.
Qed.
End TwoByTwo.

(* The inner product of vectors and of matrices, over any field with an order.

   Index convention: a vector is a column, 'cV[R]_n; a batch has an example in each row.

     dot u v      sum over all entries of u_ij v_ij; for columns the usual inner product u' v
     sq u         |u|^2 = dot u u
     e            the vector of N ones

   Nothing here knows of normalization. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section InnerProduct.
Variable R : realFieldType.

Definition dot m n (u v : 'M[R]_(m, n)) : R := \sum_i \sum_j u i j * v i j.
Definition sq m n (u : 'M[R]_(m, n)) : R := dot u u.
Definition e N : 'cV[R]_N := const_mx 1.

(* ---- the definition, as a trace and for columns ---- *)

Lemma dot_trace m n (u v : 'M[R]_(m, n)) : dot u v = \tr (u^T *m v).
Proof.
rewrite /dot exchange_big /mxtrace /=; apply: eq_bigr => j _; rewrite mxE.
by apply: eq_bigr => i _; rewrite mxE.
Qed.
Lemma dot_column n (u v : 'cV[R]_n) : dot u v = \sum_i u i 0 * v i 0.
Proof. by rewrite /dot; apply: eq_bigr => i _; rewrite big_ord1. Qed.
Lemma sq_column n (u : 'cV[R]_n) : sq u = \sum_i u i 0 ^+ 2.
Proof. by rewrite /sq dot_column; apply: eq_bigr => i _; rewrite expr2. Qed.
Lemma sq_rows m n (A : 'M[R]_(m, n)) : sq A = \sum_i sq (row i A)^T.
Proof.
rewrite {1}/sq /dot; apply: eq_bigr => i _; rewrite sq_column.
by apply: eq_bigr => j _; rewrite !mxE expr2.
Qed.
Lemma sq_columns m n (A : 'M[R]_(m, n)) : sq A = \sum_j sq (col j A).
Proof.
rewrite {1}/sq /dot exchange_big; apply: eq_bigr => j _; rewrite sq_column.
by apply: eq_bigr => i _; rewrite !mxE expr2.
Qed.
Lemma sq_transpose m n (A : 'M[R]_(m, n)) : sq A^T = sq A.
Proof. by rewrite /sq !dot_trace trmxK mxtrace_mulC. Qed.

(* ---- bilinear, symmetric, positive definite ---- *)

Lemma dotC m n (u v : 'M[R]_(m, n)) : dot u v = dot v u.
Proof. by rewrite /dot; apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite mulrC. Qed.
Lemma dotDl m n (u v w : 'M[R]_(m, n)) : dot (u + v) w = dot u w + dot v w.
Proof. by rewrite !dot_trace linearD mulmxDl linearD. Qed.
Lemma dotZl m n a (u w : 'M[R]_(m, n)) : dot (a *: u) w = a * dot u w.
Proof. by rewrite !dot_trace linearZ -scalemxAl linearZ. Qed.
Lemma dotNl m n (u w : 'M[R]_(m, n)) : dot (- u) w = - dot u w.
Proof. by rewrite -scaleN1r dotZl mulN1r. Qed.
Lemma dotBl m n (u v w : 'M[R]_(m, n)) : dot (u - v) w = dot u w - dot v w.
Proof. by rewrite dotDl dotNl. Qed.
Lemma dot0l m n (w : 'M[R]_(m, n)) : dot 0 w = 0.
Proof. by rewrite -(scale0r w) dotZl mul0r. Qed.
Lemma dotDr m n (u v w : 'M[R]_(m, n)) : dot w (u + v) = dot w u + dot w v.
Proof. by rewrite dotC dotDl !(dotC w). Qed.
Lemma dotZr m n a (u w : 'M[R]_(m, n)) : dot w (a *: u) = a * dot w u.
Proof. by rewrite dotC dotZl (dotC w). Qed.
Lemma dotNr m n (u w : 'M[R]_(m, n)) : dot w (- u) = - dot w u.
Proof. by rewrite dotC dotNl (dotC w). Qed.
Lemma dotBr m n (u v w : 'M[R]_(m, n)) : dot w (u - v) = dot w u - dot w v.
Proof. by rewrite dotDr dotNr. Qed.
Lemma dot0r m n (w : 'M[R]_(m, n)) : dot w 0 = 0.
Proof. by rewrite dotC dot0l. Qed.

Lemma sq0 m n : sq (0 : 'M[R]_(m, n)) = 0.
Proof. exact: dot0l. Qed.
Lemma sqZ m n a (u : 'M[R]_(m, n)) : sq (a *: u) = a ^+ 2 * sq u.
Proof. by rewrite /sq dotZl dotZr mulrA. Qed.
Lemma sqN m n (u : 'M[R]_(m, n)) : sq (- u) = sq u.
Proof. by rewrite /sq dotNl dotNr opprK. Qed.
Lemma sqD m n (u v : 'M[R]_(m, n)) : sq (u + v) = sq u + 2 * dot u v + sq v.
Proof. by rewrite /sq dotDl !dotDr (dotC v u); ring. Qed.
Lemma sqB m n (u v : 'M[R]_(m, n)) : sq (u - v) = sq u - 2 * dot u v + sq v.
Proof. by rewrite sqD sqN dotNr mulrN. Qed.

Lemma sq_ge0 m n (u : 'M[R]_(m, n)) : 0 <= sq u.
Proof. by apply: sumr_ge0 => i _; apply: sumr_ge0 => j _; rewrite -expr2 sqr_ge0. Qed.
Lemma sq_eq0 m n (u : 'M[R]_(m, n)) : (sq u == 0) = (u == 0).
Proof.
apply/eqP/eqP => [z|->]; last exact: sq0.
apply/matrixP => i j; rewrite mxE; apply/eqP; rewrite -sqrf_eq0 expr2.
have inner k : 0 <= \sum_j u k j * u k j by apply: sumr_ge0 => l _; rewrite -expr2 sqr_ge0.
have := psumr_eq0P (fun k _ => inner k) z; move=> /(_ i isT) /psumr_eq0P -> //.
by move=> l _; rewrite -expr2 sqr_ge0.
Qed.
Lemma sq_gt0 m n (u : 'M[R]_(m, n)) : (0 < sq u) = (u != 0).
Proof. by rewrite lt_def sq_ge0 andbT sq_eq0. Qed.

Lemma cauchy_schwarz m n (u v : 'M[R]_(m, n)) : dot u v ^+ 2 <= sq u * sq v.
Proof.
have [->|nz] := eqVneq v 0; first by rewrite dot0r sq0 expr0n mulr0.
rewrite -sq_gt0 in nz; rewrite -subr_ge0 -(pmulr_rge0 _ nz).
have -> : sq v * (sq u * sq v - dot u v ^+ 2) = sq (sq v *: u - dot u v *: v).
  by rewrite sqB !sqZ dotZl dotZr; ring.
exact: sq_ge0.
Qed.

(* ---- with matrices ---- *)

Lemma dot_mul m n p (F : 'M[R]_(m, n)) (u : 'M_(n, p)) v : dot (F *m u) v = dot u (F^T *m v).
Proof. by rewrite !dot_trace trmx_mul mulmxA. Qed.
Lemma sq_mul m n p (F : 'M[R]_(m, n)) (u : 'M_(n, p)) : sq (F *m u) = dot u (F^T *m F *m u).
Proof. by rewrite /sq dot_mul mulmxA. Qed.
Lemma sq_orthogonal m n p (Q : 'M[R]_(m, n)) (u : 'M_(n, p)) : Q^T *m Q = 1%:M ->
  sq (Q *m u) = sq u.
Proof. by move=> o; rewrite sq_mul o mul1mx. Qed.
Lemma dot_col_mx m n p (u v : 'M[R]_(m, p)) (u' v' : 'M[R]_(n, p)) :
  dot (col_mx u u') (col_mx v v') = dot u v + dot u' v'.
Proof. by rewrite !dot_trace tr_col_mx mul_row_col linearD. Qed.
Lemma sq_col_mx m n p (u : 'M[R]_(m, p)) (u' : 'M[R]_(n, p)) :
  sq (col_mx u u') = sq u + sq u'.
Proof. exact: dot_col_mx. Qed.
Lemma dot_scalar (s t : R) : dot (s%:M : 'cV_1) t%:M = s * t.
Proof. by rewrite dot_column big_ord1 !mxE !mulr1n. Qed.
Lemma sq_scalar (t : R) : sq (t%:M : 'cV_1) = t ^+ 2.
Proof. by rewrite /sq dot_scalar expr2. Qed.

Lemma dot_delta n (u : 'cV[R]_n) i : dot u (delta_mx i 0) = u i 0.
Proof.
rewrite dot_column (bigD1 i) //= big1 => [|j ne]; first by rewrite mxE !eqxx mulr1 addr0.
by rewrite mxE (negbTE ne) mulr0.
Qed.
Lemma sq_delta n i : sq (delta_mx i 0 : 'cV[R]_n) = 1.
Proof. by rewrite /sq dot_delta mxE !eqxx. Qed.
Lemma sq_e N : sq (e N) = N%:R.
Proof.
rewrite sq_column; under eq_bigr do rewrite mxE expr1n.
by rewrite sumr_const card_ord.
Qed.

End InnerProduct.
Arguments e {R} N.

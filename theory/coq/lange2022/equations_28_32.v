(* The proof of Theorem 4, (28) to (32), at a generic vector z = (t, x), and what section 3.3 says
   of U and of the centred features. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct Preconditioning.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Theorem equation_28 (R : rcfType) N n (H : 'M[R]_(N, n)) t x :
  (0 < N)%N -> sq (augmented H *m centring (mean H) *m stack t x) =
  N%:R * (t ^+ 2 - dot (mean H) x ^+ 2) + sq (H *m x).
Proof. by move=> N0; apply: sq_centring. Qed.

Theorem equation_29 (R : rcfType) N n (H : 'M[R]_(N, n)) t x :
  (0 < N)%N -> sq (augmented H *m stack t x) =
  N%:R * (t ^+ 2 + 2 * t * dot (mean H) x) + sq (H *m x).
Proof. by move=> N0; apply: sq_augmented. Qed.

(* The block diagonal form, above (28). *)
Theorem block_diagonal_of_U (R : rcfType) N n (H : 'M[R]_(N, n)) t x :
  (0 < N)%N -> sq (augmented H *m centring (mean H) *m stack t x) =
  N%:R * t ^+ 2 + sq (centred H (mean H) *m x).
Proof. by move=> N0; apply: block_diagonal. Qed.

(* (30), multiplied by its denominator, strict where the mean is not zero. *)
Theorem equation_30 (R : rcfType) N n (H : 'M[R]_(N, n)) :
  let mu := mean H in (0 < N)%N -> mu != 0 ->
  N%:R * (1 + sq mu) < N%:R * (1 + 2 * sq mu) + sq (H *m mu).
Proof.
move=> mu N0; rewrite -sq_gt0 => m0; rewrite -subr_gt0.
have -> : N%:R * (1 + 2 * sq mu) + sq (H *m mu) - N%:R * (1 + sq mu) = N%:R * sq mu + sq (H *m mu).
  by ring.
by rewrite ltr_paddr ?sq_ge0 // mulr_gt0 // ltr0n.
Qed.

(* (31), strict where the mean is not orthogonal to x. *)
Theorem equation_31 (R : rcfType) N n (H : 'M[R]_(N, n)) (x : 'cV[R]_n) :
  (0 < N)%N -> dot (mean H) x != 0 -> sq (centred H (mean H) *m x) < sq (H *m x).
Proof.
move=> N0 m0; rewrite sq_centred // ltr_subl_addr ltr_addl mulr_gt0 ?ltr0n //.
by rewrite lt_def sqrf_eq0 m0 sqr_ge0.
Qed.

(* Section 3.3: U centres the features, for any means; *)
Theorem centred_by_U (R : rcfType) N n (H : 'M[R]_(N, n)) mu :
  augmented H *m centring mu = row_mx (e N) (centred H mu).
Proof. exact: augmented_centring. Qed.

(* with the batch's own they are orthogonal to the column of ones; *)
Theorem centred_orthogonal_to_ones (R : rcfType) N n (H : 'M[R]_(N, n)) :
  (0 < N)%N -> (centred H (mean H))^T *m e N = 0.
Proof. by move=> N0; apply: centred_orthogonal. Qed.

(* sigma_H^2 is the mean square of a column (the text has N for 1/N); *)
Theorem variances_are_column_norms (R : rcfType) N n (H : 'M[R]_(N, n)) k :
  variance H k 0 = N%:R^-1 * sq (col k (centred H (mean H))).
Proof. exact: variance_centred. Qed.

(* and of centred data U is the identity. *)
Theorem centring_of_centred_data (R : rcfType) N n (H : 'M[R]_(N, n)) :
  mean H = 0 -> centring (mean H) = 1%:M.
Proof. exact: centring_of_centred. Qed.

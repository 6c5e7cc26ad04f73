(* A unit of a layer of Batch Normalization, written literally.

   y is the unit's batch, a vector of length m: its input on each of the m examples.

     mean y               (y_0 + ... + y_(m-1)) / m
     variance y           the mean of the squares of y_i - mean y: biased, divided by m
     deviation eps y      sqrt (variance y + eps), the papers' sigma
     normalize eps y      (y_i - mean y) / deviation eps y, the papers' yhat
     bn gamma beta eps y  gamma normalize eps y + beta, the layer's output

   The papers have eps = 0, every implementation eps > 0; both are instances here.  A division by
   zero is a real number in Coq, of which nothing is known; statements therefore say
   0 < variance y + eps.  What follows the definitions are their properties. *)

From Coq Require Import Reals Lra Psatz.
From mathcomp Require Import ssreflect ssrbool ssrfun fintype bigop.
From BatchNorm Require Import Vectors Calculus.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

(* ---- what statements speak of ---- *)

Section Definitions.
Variable m : nat.
Implicit Types y : vec m.

Definition mean y : R := sum y / INR m.
Definition variance y : R := sum (fun i => (y i - mean y)^2) / INR m.
Definition deviation (eps : R) y : R := sqrt (variance y + eps).
Definition normalize (eps : R) y : vec m := fun i => (y i - mean y) / deviation eps y.
Definition bn (gamma beta eps : R) y : vec m := fun i => gamma * normalize eps y i + beta.
End Definitions.

(* ---- the batch is its mean plus its centre ---- *)

Section Layer.
Variable m : nat.
Implicit Types a u y : vec m.

Definition centre y : vec m := (y - mean y *: one)%V.

Lemma mean_dot y : mean y = dot one y / INR m.
Proof. by rewrite /mean sum_dot. Qed.

Lemma variance_dot y : variance y = norm2 (centre y) / INR m.
Proof.
by congr (_ / _); apply: sum_ext => i; rewrite /centre /vsub /vscale /one; ring.
Qed.

Lemma y_centre y : y = (centre y + mean y *: one)%V.
Proof. by apply: vec_ext => i; rewrite /centre /vadd /vsub /vscale; ring. Qed.

Lemma normalize_centre eps y : normalize eps y = (1 / deviation eps y *: centre y)%V.
Proof.
by apply: vec_ext => i; rewrite /normalize /centre /vscale /vsub /vscale /one /Rdiv; ring.
Qed.

Lemma bn_normalize gamma beta eps y :
  bn gamma beta eps y = (gamma *: normalize eps y + beta *: one)%V.
Proof. by apply: vec_ext => i; rewrite /bn /vscale /vadd /one; ring. Qed.

Hypothesis m_pos : 0 < INR m.

Lemma dot_one_centre y : dot one (centre y) = 0.
Proof. by rewrite dot_vsub_r dot_vscale_r dot_one_one mean_dot; field; lra. Qed.

Lemma dot_centre_one y : dot (centre y) one = 0.
Proof. by rewrite dot_comm dot_one_centre. Qed.

Lemma dot_centre_centre y u : dot (centre y) (centre u) = dot (centre y) u.
Proof. by rewrite {2}/centre dot_vsub_r dot_vscale_r dot_centre_one; ring. Qed.

Lemma variance_nonneg y : 0 <= variance y.
Proof.
rewrite variance_dot; apply: Rmult_le_pos; first exact: dot_pos.
by left; apply: Rinv_0_lt_compat.
Qed.

Section Normalized.
Variables (eps : R) (y : vec m).
Hypothesis positive : 0 < variance y + eps.
Let sigma := deviation eps y.
Let yhat := normalize eps y.

Lemma deviation_pos : 0 < sigma. Proof. exact: sqrt_lt_R0. Qed.
Lemma deviation_sq : sigma * sigma = variance y + eps.
Proof. by rewrite sqrt_sqrt //; lra. Qed.

Lemma norm2_centre : norm2 (centre y) = INR m * (sigma ^ 2 - eps).
Proof.
have -> : sigma ^ 2 = variance y + eps by rewrite -deviation_sq /sigma; ring.
by rewrite variance_dot; field; lra.
Qed.

Lemma deviation_ge : 0 <= sigma ^ 2 - eps.
Proof.
have -> : sigma ^ 2 - eps = variance y by rewrite /= Rmult_1_r deviation_sq; ring.
exact: variance_nonneg.
Qed.

Lemma dot_normalize_centre u : dot yhat (centre u) = dot yhat u.
Proof. by rewrite /yhat normalize_centre !dot_vscale_l dot_centre_centre. Qed.
End Normalized.
End Layer.

(* Of two examples: vectors are in the plane of 1 and the centred batch. *)
Lemma dot_of_two m (y a b : vec m) : norm2 (@one m) = 2 -> 0 < variance y ->
  dot a b = dot one a * dot one b / 2 + dot (centre y) a * dot (centre y) b / norm2 (centre y).
Proof.
rewrite dot_one_one -[2]/(INR 2) => /INR_eq two; subst m.
rewrite variance_dot /centre mean_dot /dot /sum /vsub /vscale /one !big_ord_recl !big_ord0.
rewrite -[INR 2]/2.
move: (y ord0) (y (lift ord0 ord0)) (a ord0) (a (lift ord0 ord0)) (b ord0) (b (lift ord0 ord0)).
move=> y0 y1 a0 a1 b0 b1.
match goal with |- 0 < ?e / _ -> _ => have -> : e = (y0 - y1) ^ 2 / 2 by field end => P.
by field => E; move: P; rewrite E; lra.
Qed.

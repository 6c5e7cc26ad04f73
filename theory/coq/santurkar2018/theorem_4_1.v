(* Theorem 4.1: the gradient's norm with and without Batch Normalization.

   z is the layer's output, L the loss as a function of it, g its gradient there, and
   Lhat y = L (bn y) the loss as a function of the batch y. *)

From BatchNorm Require Import Tactics Instances.

(* Theorem 4.1 as printed (final version), eps = 0: an equality. *)
Theorem theorem_4_1_equality (m : nat) (L : vec m -> R) (y : vec m) (gamma beta : R) :
  (0 < m)%nat -> 0 < variance y ->
  let z := bn gamma beta 0 y in let Lhat := fun x => L (bn gamma beta 0 x) in
  let sigma := deviation 0 y in let yhat := normalize 0 y in let g := gradient L z in
  differentiable L z ->
  norm2 (gradient Lhat y) =
  gamma^2 / sigma^2 * (norm2 g - dot one g ^ 2 / INR m - dot g yhat ^ 2 / INR m).
Proof. intros; identity. Qed.

Theorem theorem_4_1 (m : nat) (L : vec m -> R) (y : vec m) (gamma beta : R) :
  (0 < m)%nat -> 0 < variance y ->
  let z := bn gamma beta 0 y in let Lhat := fun x => L (bn gamma beta 0 x) in
  let sigma := deviation 0 y in let yhat := normalize 0 y in let g := gradient L z in
  differentiable L z ->
  norm2 (gradient Lhat y) <=
  gamma^2 / sigma^2 * (norm2 g - dot one g ^ 2 / INR m - dot g yhat ^ 2 / INR m).
Proof. intros; apply Req_le; now apply theorem_4_1_equality. Qed.

(* With sigma = sqrt (variance + eps), as every implementation has it, it is an inequality; *)
Theorem theorem_4_1_eps (m : nat) (L : vec m -> R) (y : vec m) (gamma beta eps : R) :
  (0 < m)%nat -> 0 <= eps -> 0 < variance y + eps ->
  let z := bn gamma beta eps y in let Lhat := fun x => L (bn gamma beta eps x) in
  let sigma := deviation eps y in let yhat := normalize eps y in let g := gradient L z in
  differentiable L z ->
  norm2 (gradient Lhat y) <=
  gamma^2 / sigma^2 * (norm2 g - dot one g ^ 2 / INR m - dot g yhat ^ 2 / INR m).
Proof.
intros.
by_certificate (eps * gamma^2 / (INR m * sigma^4) * dot g yhat ^ 2); nonneg.
Qed.

(* and this is the equality. *)
Theorem theorem_4_1_eps_equality (m : nat) (L : vec m -> R) (y : vec m) (gamma beta eps : R) :
  (0 < m)%nat -> 0 < variance y + eps ->
  let z := bn gamma beta eps y in let Lhat := fun x => L (bn gamma beta eps x) in
  let sigma := deviation eps y in let yhat := normalize eps y in let g := gradient L z in
  differentiable L z ->
  norm2 (gradient Lhat y) =
  gamma^2 / sigma^2 *
    (norm2 g - dot one g ^ 2 / INR m - (1 + eps / sigma^2) * dot g yhat ^ 2 / INR m).
Proof. intros; identity. Qed.

(* "Exploiting the fact that" the layer gives back the batch: where gamma and beta are its deviation
   and mean, the loss has the same gradient at the outputs of both networks, and the same Hessian. *)
Lemma bn_gives_back (m : nat) (y : vec m) (gamma beta eps : R) :
  0 < variance y + eps -> gamma = deviation eps y -> beta = mean y -> bn gamma beta eps y = y.
Proof.
intros P G B; rewrite G, B; apply vec_ext; intro i; unfold bn, normalize.
field; apply Rgt_not_eq; exact (deviation_pos P).
Qed.

Theorem identification_of_gradients (m : nat) (L : vec m -> R) (y : vec m) (gamma beta eps : R) :
  0 < variance y + eps ->
  let z := bn gamma beta eps y in let sigma := deviation eps y in let g := gradient L z in
  gamma = sigma -> beta = mean y -> g = gradient L y.
Proof. intros P z sigma g G B; unfold g, z; now rewrite bn_gives_back. Qed.

Theorem identification_of_hessians (m : nat) (L : vec m -> R) (y u : vec m) (gamma beta eps : R) :
  0 < variance y + eps ->
  let z := bn gamma beta eps y in let sigma := deviation eps y in
  gamma = sigma -> beta = mean y -> hessian L z u = hessian L y u.
Proof. intros P z sigma G B; unfold z; now rewrite bn_gives_back. Qed.

(* The gradient is at most gamma^2/sigma^2 times as long, squared. *)
Theorem theorem_4_1_bound (m : nat) (L : vec m -> R) (y : vec m) (gamma beta : R) :
  (0 < m)%nat -> 0 < variance y ->
  let z := bn gamma beta 0 y in let Lhat := fun x => L (bn gamma beta 0 x) in
  let sigma := deviation 0 y in let g := gradient L z in
  differentiable L z ->
  norm2 (gradient Lhat y) <= gamma^2 / sigma^2 * norm2 g.
Proof.
intros.
by_certificate
  (gamma^2 / sigma^2 * (dot one g ^ 2 / INR m + dot g (normalize 0 y) ^ 2 / INR m)); nonneg.
Qed.

(* Theorem 4.1 as the supplement prints it, with 1/sqrt m before the last term. *)
Definition theorem_4_1_supplement : Prop := forall
    (m : nat) (L : vec m -> R) (y : vec m) (gamma beta : R),
  (0 < m)%nat -> 0 < variance y ->
  let z := bn gamma beta 0 y in let Lhat := fun x => L (bn gamma beta 0 x) in
  let sigma := deviation 0 y in let yhat := normalize 0 y in let g := gradient L z in
  differentiable L z ->
  norm2 (gradient Lhat y) <=
  gamma^2 / sigma^2 * (norm2 g - dot one g ^ 2 / INR m - dot g yhat ^ 2 / sqrt (INR m)).

(* It fails wherever <g, yhat> and gamma are not zero and m > 1: *)
Theorem theorem_4_1_supplement_fails (m : nat) (L : vec m -> R) (y : vec m) (gamma beta : R) :
  (1 < m)%nat -> 0 < variance y -> gamma <> 0 ->
  let z := bn gamma beta 0 y in let Lhat := fun x => L (bn gamma beta 0 x) in
  let sigma := deviation 0 y in let yhat := normalize 0 y in let g := gradient L z in
  differentiable L z -> dot g yhat <> 0 ->
  gamma^2 / sigma^2 * (norm2 g - dot one g ^ 2 / INR m - dot g yhat ^ 2 / sqrt (INR m))
  < norm2 (gradient Lhat y).
Proof.
intros Hm V G z Lhat sigma yhat g D N.
assert (Hm0 : (0 < m)%nat) by (apply (Nat.lt_trans _ 1); auto).
unfold g, Lhat; rewrite (theorem_4_1_equality m L y gamma beta Hm0 V D).
fold z g sigma yhat.
assert (S : 0 < sigma) by (unfold sigma; facts; assumption).
assert (M : 1 < INR m) by (change 1 with (INR 1); now apply lt_INR).
apply Rmult_lt_compat_l.
{ apply Rdiv_lt_0_compat; [|now apply pow_lt]. now apply square_pos. }
apply Rplus_lt_compat_l, Ropp_lt_contravar, Rmult_lt_compat_l; [now apply square_pos|].
assert (R : sqrt (INR m) < INR m).
{ rewrite <- (sqrt_square (INR m)) at 2 by lra. apply sqrt_lt_1; nra. }
apply Rinv_lt_contravar; [|exact R].
apply Rmult_lt_0_compat; [apply sqrt_lt_R0|]; lra.
Qed.

(* such as m = 2, y = (1, -1), g = y, gamma = 1, where it says that 0 <= 2 - sqrt 8. *)
Theorem theorem_4_1_supplement_refuted : ~ theorem_4_1_supplement.
Proof.
intro claim.
set (y := vector2 1 (-1)).
assert (size : 0 < INR 2) by (simpl; lra).
assert (mean0 : dot one y = 0) by (unfold y; rewrite one_vector2, dot_vector2; lra).
assert (variance1 : norm2 y = INR 2) by (unfold y; rewrite dot_vector2; simpl; lra).
assert (V : 0 < variance y) by (rewrite (variance_standardized size mean0 variance1); lra).
assert (D : differentiable (quadratic y 0) (bn 1 0 0 y)) by apply twice_once, twice_quadratic.
assert (g_is : gradient (quadratic y 0) (bn 1 0 0 y) = y).
{ rewrite gradient_quadratic; apply vec_ext; intro i; unfold vadd, vscale; lra. }
apply (Rlt_not_le _ _ (theorem_4_1_supplement_fails 2 _ y 1 0 ltac:(auto) V R1_neq_R0 D
  ltac:(rewrite g_is, (normalize_standardized size mean0 variance1), variance1; simpl; lra))).
apply claim; auto.
Qed.

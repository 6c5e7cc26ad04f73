(* Theorem 4.1: the gradient's norm with and without Batch Normalization.

   z is the layer's output, L the loss as a function of it, g its gradient there, and
   Lhat y = L (bn y) the loss as a function of the batch y. *)

From BatchNorm Require Import Tactics.

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

(* Theorem 4.4: the largest gradient in the weights, over all inputs of norm at most lambda.

   The gradient in the weights is X'h with the layer and X'g without it, h and g the gradients in y
   and in z.  As in the proof, g, sigma and yhat are held fixed while X varies; ghat_j and g_j are
   the two maxima, mu the mean of g. *)

From BatchNorm Require Import Tactics Inputs Instances.

(* The squared lengths of X'a over all inputs of m examples and d numbers each. *)
Definition gradients_in_weights m d (lambda : R) (a : vec m) (q : R) : Prop :=
  exists X : inputs m d, spectral_at_most X lambda /\ q = norm2 (back X a).

Lemma largest_is_unique S a b : is_maximum S a -> is_maximum S b -> a = b.
Proof. intros [A A'] [B B']; apply Rle_antisym; auto. Qed.

(* What is right: an equality, with lambda^2 before the mean's term and 1/m in the last. *)
Theorem theorem_4_4_corrected
    (m d : nat) (L : vec m -> R) (y : vec m) (gamma beta lambda g_j ghat_j : R) :
  (0 < m)%nat -> (0 < d)%nat -> 0 <= lambda -> 0 < variance y ->
  let z := bn gamma beta 0 y in let Lhat := fun x => L (bn gamma beta 0 x) in
  let sigma := deviation 0 y in let yhat := normalize 0 y in let g := gradient L z in
  differentiable L z ->
  is_maximum (gradients_in_weights m d lambda g) g_j ->
  is_maximum (gradients_in_weights m d lambda (gradient Lhat y)) ghat_j ->
  ghat_j = gamma^2 / sigma^2 *
    (g_j - lambda^2 * INR m * mean g ^ 2 - lambda^2 / INR m * dot g yhat ^ 2).
Proof.
intros Hm Hd L0 V z Lhat sigma yhat g D G Ghat.
rewrite (largest_is_unique _ _ _ G (largest_gradient g Hd L0)).
rewrite (largest_is_unique _ _ _ Ghat
  (largest_gradient (gradient Lhat y) Hd L0)).
identity.
Qed.

(* With eps it is a bound. *)
Theorem theorem_4_4_eps
    (m d : nat) (L : vec m -> R) (y : vec m) (gamma beta eps lambda g_j ghat_j : R) :
  (0 < m)%nat -> (0 < d)%nat -> 0 <= lambda -> 0 <= eps -> 0 < variance y + eps ->
  let z := bn gamma beta eps y in let Lhat := fun x => L (bn gamma beta eps x) in
  let sigma := deviation eps y in let yhat := normalize eps y in let g := gradient L z in
  differentiable L z ->
  is_maximum (gradients_in_weights m d lambda g) g_j ->
  is_maximum (gradients_in_weights m d lambda (gradient Lhat y)) ghat_j ->
  ghat_j <= gamma^2 / sigma^2 *
    (g_j - lambda^2 * INR m * mean g ^ 2 - lambda^2 / INR m * dot g yhat ^ 2).
Proof.
intros Hm Hd L0 E0 V z Lhat sigma yhat g D G Ghat.
rewrite (largest_is_unique _ _ _ G (largest_gradient g Hd L0)).
rewrite (largest_is_unique _ _ _ Ghat
  (largest_gradient (gradient Lhat y) Hd L0)).
by_certificate (eps * lambda^2 * gamma^2 / (INR m * sigma^4) * dot g yhat ^ 2); nonneg.
Qed.

(* The theorem as printed, for a power of g_j: 2 is literal, 1 is charitable. *)
Definition theorem_4_4_printed (power : nat) : Prop := forall
    (m d : nat) (L : vec m -> R) (y : vec m) (gamma beta lambda g_j ghat_j : R),
  (0 < m)%nat -> (0 < d)%nat -> 0 < lambda -> 0 < variance y ->
  let z := bn gamma beta 0 y in let Lhat := fun x => L (bn gamma beta 0 x) in
  let sigma := deviation 0 y in let yhat := normalize 0 y in let g := gradient L z in
  differentiable L z ->
  is_maximum (gradients_in_weights m d lambda g) g_j ->
  is_maximum (gradients_in_weights m d lambda (gradient Lhat y)) ghat_j ->
  ghat_j <= gamma^2 / sigma^2 *
    (g_j ^ power - INR m * mean g ^ 2 - lambda^2 * dot g yhat ^ 2).

(* m = 2, y = (1, -1), gamma = sigma = 1, g = (1/2, -1/2), lambda = 1: h = 0, and 0 <= 1/2 - 1 is
   false. *)
Theorem theorem_4_4_refuted (power : nat) : ~ theorem_4_4_printed (S power).
Proof.
intro claim.
set (y := vector2 1 (-1)); set (g := vector2 (1/2) (-1/2)).
assert (size : 0 < INR 2) by (simpl; lra).
assert (mean0 : dot one y = 0) by (unfold y; rewrite one_vector2, dot_vector2; lra).
assert (variance1 : norm2 y = INR 2) by (unfold y; rewrite dot_vector2; simpl; lra).
assert (gradient_is : forall x, gradient (quadratic g 0) x = g).
{ intro x; rewrite gradient_quadratic; apply vec_ext; intro i; unfold vadd, vscale; lra. }
pose proof (@theorem_4_4_corrected 2 1 (quadratic g 0) y 1 0 1) as right.
pose proof (claim 2%nat 1%nat (quadratic g 0) y 1 0 1) as wrong; cbv zeta in right, wrong.
rewrite gradient_is in right, wrong.
rewrite (normalize_standardized size mean0 variance1) in right, wrong.
rewrite (deviation_standardized size mean0 variance1) in right, wrong.
rewrite (variance_standardized size mean0 variance1) in right, wrong.
assert (one_pos : (0 < 1)%nat) by auto.
set (h := gradient (fun x => quadratic g 0 (bn 1 0 0 x)) y) in *.
pose proof (largest_gradient g one_pos Rle_0_1) as G.
pose proof (largest_gradient h one_pos Rle_0_1) as Gh.
assert (D : differentiable (quadratic g 0) (bn 1 0 0 y)) by apply twice_once, twice_quadratic.
specialize (right _ _ ltac:(auto) one_pos Rle_0_1 Rlt_0_1 D G Gh).
specialize (wrong _ _ ltac:(auto) one_pos Rlt_0_1 Rlt_0_1 D G Gh).
rewrite right in wrong; clear right.
assert (gg : norm2 g = 1/2) by (unfold g; rewrite dot_vector2; lra).
assert (gy : dot g y = 1) by (unfold g, y; rewrite dot_vector2; lra).
assert (mg : mean g = 0) by (rewrite mean_dot; unfold g; rewrite one_vector2, dot_vector2; simpl; lra).
rewrite gg, gy, mg in wrong; simpl INR in wrong.
assert (half : (1 ^ 2 * (1 / 2)) ^ S power <= 1 / 2).
{ simpl; rewrite !Rmult_1_l. pose proof (pow_incr (1/2) 1 power ltac:(lra)) as Q.
  rewrite pow1 in Q; lra. }
lra.
Qed.

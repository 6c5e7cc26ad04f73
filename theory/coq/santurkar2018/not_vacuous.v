(* The hypotheses of the main theorems can be met, all those of one theorem at once: by the batch
   y = (1, -1, 1, -1), gamma = 1, beta = 0, and the loss <(1, 1, 0, 0), z> + |z|^2/2, whose gradient
   behind the layer is g = (2, 0, 1, -1). *)

From BatchNorm Require Import Tactics Inputs Instances.
From BatchNorm.santurkar2018 Require Import theorem_4_1 theorem_4_4 version_1.

Definition batch : vec 4 := vector4 1 (-1) 1 (-1).
Definition loss : vec 4 -> R := quadratic (vector4 1 1 0 0) 1.

Lemma size4 : 0 < INR 4. Proof. simpl; lra. Qed.
Lemma mean_batch : dot one batch = 0.
Proof. unfold batch; rewrite one_vector4, dot_vector4; lra. Qed.
Lemma norm2_batch : norm2 batch = INR 4.
Proof. unfold batch; rewrite dot_vector4; simpl; lra. Qed.
Lemma output : bn 1 0 0 batch = batch.
Proof.
rewrite bn_normalize, (normalize_standardized size4 mean_batch norm2_batch).
unfold batch; rewrite one_vector4, !vscale_vector4, vadd_vector4; f_equal; lra.
Qed.
Lemma slope : gradient loss batch = vector4 2 0 1 (-1).
Proof.
unfold loss, batch; rewrite gradient_quadratic, vscale_vector4, vadd_vector4; f_equal; lra.
Qed.
Lemma bends z u : hessian loss z u = (1 *: u)%V. Proof. exact (hessian_quadratic _ _ z u). Qed.

(* Of Theorems 4.1, 4.2 in both readings, and 4.4; with the layer the gradient is not zero. *)
Theorem main_theorems_are_not_vacuous :
  exists (m d : nat) (L : vec m -> R) (y : vec m) (gamma beta lambda g_j ghat_j : R),
  let z := bn gamma beta 0 y in let Lhat := fun x => L (bn gamma beta 0 x) in
  let sigma := deviation 0 y in let yhat := normalize 0 y in
  let g := gradient L z in let H := hessian L z in let w := gradient Lhat y in
  ((0 < m)%nat /\ (0 < d)%nat /\ 0 < lambda /\ 0 < variance y /\ gamma <> 0) /\
  (twice_differentiable L z /\ mean g <> 0 /\ dot g yhat <> 0 /\ norm2 w = 1) /\
  (dot w (H w) <= dot g (H g) /\ 0 < dot g (H g) /\ gamma^2 <= sigma^2 /\
   dot w (H w) * norm2 g = dot g (H g) * norm2 w) /\
  (is_maximum (gradients_in_weights m d lambda g) g_j /\
   is_maximum (gradients_in_weights m d lambda w) ghat_j).
Proof.
set (w := gradient (fun x => loss (bn 1 0 0 x)) batch).
assert (V : variance batch = 1) by exact (variance_standardized size4 mean_batch norm2_batch).
assert (S : deviation 0 batch = 1) by exact (deviation_standardized size4 mean_batch norm2_batch).
assert (N : normalize 0 batch = batch)
  by exact (normalize_standardized size4 mean_batch norm2_batch).
assert (D : twice_differentiable loss (bn 1 0 0 batch)) by apply twice_quadratic.
assert (gg : norm2 (vector4 2 0 1 (-1)) = 6) by (rewrite dot_vector4; lra).
assert (gy : dot (vector4 2 0 1 (-1)) batch = 4) by (unfold batch; rewrite dot_vector4; lra).
assert (one_g : dot one (vector4 2 0 1 (-1)) = 2) by (rewrite one_vector4, dot_vector4; lra).
assert (ww : norm2 w = 1).
{ assert (V0 : 0 < variance batch) by lra.
  pose proof (theorem_4_1_equality 4 loss batch 1 0 ltac:(auto with arith) V0 (twice_once D)) as E.
  cbv zeta in E; fold w in E.
  rewrite output, slope, N, S, gg, gy, one_g in E; rewrite E; simpl; lra. }
exists 4%nat, 1%nat, loss, batch, 1, 0, 1, (1^2 * norm2 (vector4 2 0 1 (-1))), (1^2 * norm2 w).
cbv zeta; fold w.
assert (G : is_maximum (gradients_in_weights 4 1 1 (vector4 2 0 1 (-1)))
  (1^2 * norm2 (vector4 2 0 1 (-1)))) by (apply largest_gradient; [auto | lra]).
assert (Gw : is_maximum (gradients_in_weights 4 1 1 w) (1^2 * norm2 w))
  by (apply largest_gradient; [auto | lra]).
pose proof D as D'; rewrite output in D'.
rewrite output, slope, !bends, V, S, N, !dot_vscale_r, mean_dot, one_g, gy, gg, ww.
rewrite gg in G; rewrite ww in Gw.
repeat split; try (simpl; lra); try (auto with arith); try exact D'; apply G || apply Gw.
Qed.

(* Of Lemma 4.5, from an initialisation that is not optimal. *)
Theorem lemma_4_5_is_not_vacuous :
  exists (m d : nat) (X : inputs m d) (W0 W : vec d),
  (0 < m)%nat /\ 0 < variance (outputs X W) /\ 0 < dot W0 W /\ W0 <> W.
Proof.
exists 4%nat, 1%nat, (column batch), (2 *: one)%V, one.
assert (O : outputs (column batch) one = batch).
{ rewrite outputs_column; apply vec_ext; intro i; unfold vscale, one; lra. }
assert (I : norm2 (@one 1) = 1) by (rewrite dot_one_one; simpl; lra).
rewrite O, (variance_standardized size4 mean_batch norm2_batch), dot_vscale_l, I.
repeat split; try lra; try auto with arith.
intro E; pose proof (f_equal (fun W => dot W one) E) as two; cbv beta in two.
rewrite dot_vscale_l, I in two; lra.
Qed.

(* Of Lemma 3.3 of version 1: a batch that the layer gives back, and labels near it. *)
Theorem lemma_3_3_is_not_vacuous :
  exists (m : nat) (y y' l : vec m) (e : R),
  (0 < m)%nat /\ 0 < variance y /\ 0 < variance y' /\ e < 1/2 /\
  rms m (normalize 0 y' - l) < e /\ rms m (y - l) < e.
Proof.
exists 4%nat, batch, batch, batch, (1/4).
rewrite (normalize_standardized size4 mean_batch norm2_batch).
rewrite (variance_standardized size4 mean_batch norm2_batch).
assert (Z : rms 4 (batch - batch) = 0).
{ unfold rms; rewrite dot_vsub_l, Rminus_diag_eq by reflexivity.
  unfold Rdiv; rewrite Rmult_0_l; apply sqrt_0. }
rewrite Z; repeat split; try lra; auto with arith.
Qed.

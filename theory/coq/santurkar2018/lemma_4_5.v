(* Lemma 4.5: the way from an initialisation to the nearest optimum is no longer with the layer.

   gamma and beta are trainable.  W0 and W are vectors of d weights, X the inputs: X W is the unit's
   batch.  That a network with the layer has the outputs of one without is what makes its weights
   an optimum; the distance is then that to the nearest multiple of W. *)

From BatchNorm Require Import Tactics Inputs.

(* Observation 4.3, first sentence: the layer at k W gives the activations X W. *)
Theorem observation_4_3 (m d : nat) (X : inputs m d) (W : vec d) (k : R) :
  (0 < m)%nat -> k <> 0 -> let y := outputs X W in 0 < variance y ->
  bn (deviation 0 (k *: y)%V / k) (mean y) 0 (outputs X (k *: W)) = y.
Proof.
intros Hm K y V; assert (M : 0 < INR m) by now apply positive_size.
assert (Vk : variance (k *: y)%V = k^2 * variance y).
{ rewrite !variance_dot; unfold centre; rewrite !mean_dot, dot_vscale_r.
  rewrite !dot_vsub_l, !dot_vsub_r, !dot_vscale_l, !dot_vscale_r; field; lra. }
assert (S : 0 < deviation 0 (k *: y)%V).
{ apply sqrt_lt_R0; rewrite Vk; pose proof (square_pos k K); nra. }
rewrite outputs_scale; fold y; apply vec_ext; intro i; unfold bn, normalize.
rewrite mean_dot, dot_vscale_r; unfold vscale at 2; rewrite mean_dot.
field; repeat split; try lra; exact K.
Qed.

Theorem lemma_4_5 (m d : nat) (X : inputs m d) (W0 W : vec d) :
  (0 < m)%nat -> 0 < variance (outputs X W) -> 0 < dot W0 W ->
  exists (What : vec d) (gamma beta : R),
    bn gamma beta 0 (outputs X What) = outputs X W /\
    norm2 (W0 - What) <= norm2 (W0 - W) - 1 / norm2 W * (norm2 W - dot W W0) ^ 2.
Proof.
intros Hm V P; set (k := dot W W0 / norm2 W).
assert (N : 0 < norm2 W).
{ apply dot_positive; intro Z; pose proof (cauchy_schwarz W0 W) as C; rewrite Z in C; nra. }
assert (K : k <> 0).
{ apply Rgt_not_eq; unfold k; rewrite dot_comm; now apply Rdiv_lt_0_compat. }
exists (k *: W)%V, (deviation 0 (k *: outputs X W)%V / k), (mean (outputs X W)).
split; [now apply observation_4_3 | apply Req_le; unfold k].
rewrite !dot_vsub_l, !dot_vsub_r, !dot_vscale_l, !dot_vscale_r, (dot_comm W0 W); field; lra.
Qed.

(* Theorems 3.1 and 3.2 and Lemma 3.3 of the first version.

   A unit's output is y = sum_i W_i x_i, so that a derivative by the weight W_i is one along the
   input x_i, a vector over the batch.  z is the layer's output, g the loss's gradient there. *)

From BatchNorm Require Import Tactics Instances.

(* Theorem 3.1, the derivative of yhat by a weight, with alpha = <x, yhat> and x of mean zero. *)
Theorem version_1_theorem_3_1 (m : nat) (x y : vec m) :
  (0 < m)%nat -> 0 < variance y -> dot one x = 0 ->
  let sigma := deviation 0 y in let yhat := normalize 0 y in
  norm2 (valong (normalize 0) y x) = 1 / sigma^2 * (norm2 x - 1 / INR m * dot x yhat ^ 2).
Proof.
intros Hm V Z sigma yhat.
replace (norm2 x) with (norm2 x - dot one x ^ 2 / INR m)
  by (rewrite Z; field; facts; lra).
identity.
Qed.

(* The same for inputs of any mean and every eps. *)
Theorem version_1_theorem_3_1_corrected (m : nat) (x y : vec m) (eps : R) :
  (0 < m)%nat -> 0 < variance y + eps ->
  let sigma := deviation eps y in let yhat := normalize eps y in
  norm2 (valong (normalize eps) y x) =
  1 / sigma^2 *
    (norm2 x - INR m * mean x ^ 2 - (1 + eps / sigma^2) * (1 / INR m * dot x yhat ^ 2)).
Proof. intros; identity. Qed.

(* Theorem 3.2, with c = <x, g>^2 / (|x| |g|)^2: as in the proof, g = dL/dyhat is taken at the
   layer's output.  A quarter of the bound suffices, for every eps and every mean of x. *)
Theorem version_1_theorem_3_2_sharpened (m : nat) (L : vec m -> R) (x y : vec m) (beta eps : R) :
  (0 < m)%nat -> 0 <= eps -> 0 < variance y + eps ->
  let z := bn 1 beta eps y in let Lhat := fun x => L (bn 1 beta eps x) in
  let sigma := deviation eps y in let g := gradient L z in
  differentiable L z ->
  along Lhat y x ^ 2 <= (norm x * norm g + Rabs (dot x g)) ^ 2 / (4 * sigma^2).
Proof.
intros Hm E V z Lhat sigma g D.
set (yhat := normalize eps y).
(* the gradient, reflected: R g = 2 P g - g *)
set (r := (2 *: (g - mean g *: one - dot g yhat / INR m *: yhat) - g)%V).
assert (split : along Lhat y x = (dot x r + dot x g) / (2 * sigma)).
{ unfold r, yhat, Lhat, sigma, g; identity. }
assert (short : norm2 r <= norm2 g).
{ unfold r, yhat, g.
  by_certificate
    (4 * eps / (INR m * sigma^2) * dot (gradient L z) (normalize eps y) ^ 2); nonneg. }
assert (S : 0 < sigma) by (unfold sigma; facts; assumption).
assert (bounded : Rabs (dot x r) <= norm x * norm g).
{ apply Rsqr_incr_0_var; [|apply Rmult_le_pos; apply norm_ge0].
  rewrite <- Rsqr_abs, Rsqr_mult; unfold Rsqr; rewrite !norm_sq.
  pose proof (cauchy_schwarz x r); pose proof (dot_pos x); nra. }
assert (sum_bounded : Rabs (dot x r + dot x g) <= norm x * norm g + Rabs (dot x g)).
{ pose proof (Rabs_triang (dot x r) (dot x g)); lra. }
rewrite split.
replace (((dot x r + dot x g) / (2 * sigma)) ^ 2)
  with (Rabs (dot x r + dot x g) ^ 2 / (4 * sigma^2)) by (rewrite pow2_abs; field; lra).
apply Rmult_le_compat_r.
- left; apply Rinv_0_lt_compat; pose proof (pow_lt sigma 2 S); lra.
- apply pow_incr; split; [apply Rabs_pos | exact sum_bounded].
Qed.

(* Theorem 3.2 as printed, where the correlation is not zero. *)
Theorem version_1_theorem_3_2 (m : nat) (L : vec m -> R) (x y : vec m) (beta eps : R) :
  (0 < m)%nat -> 0 <= eps -> 0 < variance y + eps ->
  let z := bn 1 beta eps y in let Lhat := fun x => L (bn 1 beta eps x) in
  let sigma := deviation eps y in let g := gradient L z in
  differentiable L z -> dot x g <> 0 ->
  let c := dot x g ^ 2 / (norm2 x * norm2 g) in
  along Lhat y x ^ 2 <= (1 / sqrt c + 1) ^ 2 / sigma^2 * dot x g ^ 2.
Proof.
intros Hm E V z Lhat sigma g D N c.
apply (Rle_trans _ _ _ (version_1_theorem_3_2_sharpened m L x y beta eps Hm E V D)).
fold z sigma g.
assert (S : 0 < sigma) by (unfold sigma; facts; assumption).
pose proof (cauchy_schwarz x g) as C; pose proof (square_pos _ N) as N2.
pose proof (dot_pos x) as X; pose proof (dot_pos g) as G.
assert (X0 : 0 < norm2 x) by nra; assert (G0 : 0 < norm2 g) by nra.
assert (P : 0 < Rabs (dot x g)) by now apply Rabs_pos_lt.
assert (root : 1 / sqrt c = norm x * norm g / Rabs (dot x g)).
{ unfold c; rewrite sqrt_div_alt, sqrt_mult by nra.
  rewrite <- Rsqr_pow2, sqrt_Rsqr_abs; fold (norm x) (norm g).
  pose proof (sqrt_lt_R0 _ X0); pose proof (sqrt_lt_R0 _ G0).
  unfold norm; field; lra. }
rewrite root, <- (pow2_abs (dot x g)).
set (p := Rabs (dot x g)) in *; set (n := norm x * norm g).
replace ((n / p + 1) ^ 2 / sigma ^ 2 * p ^ 2) with (4 * ((n + p) ^ 2 / (4 * sigma ^ 2)))
  by (field; lra).
assert (0 <= (n + p) ^ 2 / (4 * sigma ^ 2)); [|lra].
apply quotient_nonneg; [apply pow2_ge_0 | pose proof (pow_lt sigma 2 S); lra].
Qed.

(* Lemma 3.3, with the root of the mean square for the norm: 3 e without the factor
   (1 + e)/(1 - 2e), which is at least 1 for 0 < e < 1/2. *)
Definition rms m (a : vec m) : R := sqrt (norm2 a / INR m).

(* The layer gives the nearest vector of mean 0 and mean square 1. *)
Lemma normalize_is_nearest m (y z : vec m) : (0 < m)%nat -> 0 < variance y ->
  dot one z = 0 -> norm2 z = INR m -> norm2 (normalize 0 y - y) <= norm2 (z - y).
Proof.
intros Hm V Z U.
assert (inner : dot (normalize 0 y) y = INR m * deviation 0 y) by identity.
assert (length : norm2 (normalize 0 y) = INR m) by identity.
assert (centred : dot z y = dot z (centre y)).
{ rewrite (y_centre y) at 1; rewrite dot_vadd_r, dot_vscale_r, (dot_comm z one), Z; ring. }
assert (V0 : 0 < variance y + 0) by lra; facts.
assert (CC : norm2 (centre y) = INR m * deviation 0 y ^ 2).
{ rewrite (norm2_centre (positive_size m Hm) V0); ring. }
pose proof (cauchy_schwarz z (centre y)) as C; rewrite U, CC in C.
assert (dot z y <= INR m * deviation 0 y).
{ rewrite centred; apply Rsqr_incr_0_var; unfold Rsqr; nra. }
rewrite !dot_vsub_l, !dot_vsub_r, length, U, (dot_comm y z), (dot_comm y), inner; lra.
Qed.

Theorem version_1_lemma_3_3_sharpened (m : nat) (y y' l : vec m) (e : R) :
  (0 < m)%nat -> 0 < variance y -> 0 < variance y' ->
  rms m (normalize 0 y' - l) < e -> rms m (y - l) < e -> rms m (normalize 0 y - l) < 3 * e.
Proof.
intros Hm V V' fits' fits.
assert (M : 0 < INR m) by now apply positive_size.
assert (rms_norm : forall a : vec m, rms m a = norm a / sqrt (INR m))
  by (intro a; unfold rms; now rewrite sqrt_div_alt).
assert (R0 : 0 < sqrt (INR m)) by now apply sqrt_lt_R0.
assert (below : forall (a : vec m) s, rms m a < s -> norm a < s * sqrt (INR m)).
{ intros a s; rewrite rms_norm; intro B.
  apply (Rmult_lt_compat_r (sqrt (INR m))) in B; [|exact R0].
  now replace (norm a / sqrt (INR m) * sqrt (INR m)) with (norm a) in B by (field; lra). }
apply below in fits, fits'.
assert (mean0 : dot one (normalize 0 y') = 0) by identity.
assert (length : norm2 (normalize 0 y') = INR m) by identity.
pose proof (sqrt_le_1_alt _ _ (normalize_is_nearest m y _ Hm V mean0 length)) as near.
fold (norm (normalize 0 y - y)) (norm (normalize 0 y' - y)) in near.
assert (way : forall a b c : vec m, norm (a - c) <= norm (a - b) + norm (b - c)).
{ intros a b c; replace (a - c)%V with ((a - b) + (b - c))%V; [apply triangle|].
  apply vec_ext; intro i; unfold vadd, vsub; ring. }
assert (sym : norm (l - y) = norm (y - l)).
{ unfold norm; f_equal; rewrite !dot_vsub_l, !dot_vsub_r, (dot_comm l y); ring. }
pose proof (way (normalize 0 y) y l); pose proof (way (normalize 0 y') l y).
rewrite rms_norm; apply (Rmult_lt_reg_r (sqrt (INR m))); [exact R0|].
replace (norm (normalize 0 y - l) / sqrt (INR m) * sqrt (INR m))
  with (norm (normalize 0 y - l)) by (field; lra).
lra.
Qed.

Theorem version_1_lemma_3_3 (m : nat) (y y' l : vec m) (e : R) :
  (0 < m)%nat -> 0 < variance y -> 0 < variance y' -> e < 1/2 ->
  rms m (normalize 0 y' - l) < e -> rms m (y - l) < e ->
  rms m (normalize 0 y - l) < 3 * e * ((1 + e) / (1 - 2 * e)).
Proof.
intros Hm V V' half fits' fits.
assert (e0 : 0 < e) by (apply (Rle_lt_trans _ (rms m (y - l))); [apply sqrt_pos | exact fits]).
apply (Rlt_le_trans _ (3 * e)); [now apply (version_1_lemma_3_3_sharpened m y y' l e)|].
rewrite <- (Rmult_1_r (3 * e)) at 1; apply Rmult_le_compat_l; [lra|].
apply (Rmult_le_reg_r (1 - 2 * e)); [lra|].
replace ((1 + e) / (1 - 2 * e) * (1 - 2 * e)) with (1 + e) by (field; lra); lra.
Qed.

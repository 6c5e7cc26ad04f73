(* Theorem 4.2: the Hessian's quadratic form along the gradient, and the Hessian itself.

   z is the layer's output, L the loss as a function of it, g and H u its gradient and Hessian
   there; Lhat y = L (bn y) is the loss as a function of the batch y, w its gradient. *)

From BatchNorm Require Import Tactics Instances.
From BatchNorm.santurkar2018 Require Import theorem_4_1.

(* Equations (41)-(42), as printed but for 1/gamma, which is multiplied out; for every eps. *)
Theorem hessian_of_batch_norm
    (m : nat) (L : vec m -> R) (y u : vec m) (gamma beta eps : R) :
  (0 < m)%nat -> 0 < variance y + eps ->
  let z := bn gamma beta eps y in let Lhat := fun x => L (bn gamma beta eps x) in
  let sigma := deviation eps y in let yhat := normalize eps y in
  let g := gradient L z in let H := hessian L z in
  let gbar := (g - mean g *: one)%V in
  let P := project eps y in
  twice_differentiable L z ->
  hessian Lhat y u =
  (gamma^2 / sigma^2 *: P (H (P u))
   - gamma / (INR m * sigma^2) *:
       (dot yhat u *: gbar + dot gbar u *: yhat
        - 3 / INR m * dot yhat g * dot yhat u *: yhat
        + dot g yhat *: (u - mean u *: one)))%V.
Proof. intros; subst P; unfold project; vector_identity. Qed.

(* The first display as printed, eps = 0: an equality. *)
Theorem theorem_4_2_equality (m : nat) (L : vec m -> R) (y : vec m) (gamma beta : R) :
  (0 < m)%nat -> 0 < variance y ->
  let z := bn gamma beta 0 y in let Lhat := fun x => L (bn gamma beta 0 x) in
  let sigma := deviation 0 y in let yhat := normalize 0 y in
  let g := gradient L z in let H := hessian L z in let w := gradient Lhat y in
  twice_differentiable L z ->
  dot w (hessian Lhat y w) =
  gamma^2 / sigma^2 * dot w (H w) - gamma / (INR m * sigma^2) * dot g yhat * norm2 w.
Proof. intros; identity. Qed.

Theorem theorem_4_2 (m : nat) (L : vec m -> R) (y : vec m) (gamma beta : R) :
  (0 < m)%nat -> 0 < variance y ->
  let z := bn gamma beta 0 y in let Lhat := fun x => L (bn gamma beta 0 x) in
  let sigma := deviation 0 y in let yhat := normalize 0 y in
  let g := gradient L z in let H := hessian L z in let w := gradient Lhat y in
  twice_differentiable L z ->
  dot w (hessian Lhat y w) <=
  gamma^2 / sigma^2 * dot w (H w) - gamma / (INR m * sigma^2) * dot g yhat * norm2 w.
Proof. intros; apply Req_le; now apply theorem_4_2_equality. Qed.

(* With eps > 0 the gradient has a part along yhat, and the first display is false; this is right. *)
Theorem theorem_4_2_eps_corrected (m : nat) (L : vec m -> R) (y : vec m) (gamma beta eps : R) :
  (0 < m)%nat -> 0 < variance y + eps ->
  let z := bn gamma beta eps y in let Lhat := fun x => L (bn gamma beta eps x) in
  let sigma := deviation eps y in let yhat := normalize eps y in
  let g := gradient L z in let H := hessian L z in let w := gradient Lhat y in
  let gbar := (g - mean g *: one)%V in
  let b := dot yhat w in let v := (w - b / INR m *: yhat)%V in
  twice_differentiable L z ->
  dot w (hessian Lhat y w) =
  gamma^2 / sigma^2 * dot v (H v)
  - gamma / (INR m * sigma^2) * (2 * dot gbar w * b + dot yhat g * (norm2 w - 3 * b^2 / INR m)).
Proof. intros; identity. Qed.

(* The second display, its condition read as what the proof uses: w'Hw <= g'Hg. *)
Theorem theorem_4_2_second_display (m : nat) (L : vec m -> R) (y : vec m) (gamma beta : R) :
  (0 < m)%nat -> 0 < variance y ->
  let z := bn gamma beta 0 y in let Lhat := fun x => L (bn gamma beta 0 x) in
  let sigma := deviation 0 y in let yhat := normalize 0 y in
  let g := gradient L z in let H := hessian L z in let w := gradient Lhat y in
  twice_differentiable L z ->
  dot w (H w) <= dot g (H g) ->
  dot w (hessian Lhat y w) <=
  gamma^2 / sigma^2 * dot g (H g) - gamma / (INR m * sigma^2) * dot g yhat * norm2 w.
Proof.
intros Hm V z Lhat sigma yhat g H w D Q.
apply (Rle_trans _ _ _ (theorem_4_2 m L y gamma beta Hm V D)).
apply Rplus_le_compat_r, Rmult_le_compat_l; [facts; nonneg | exact Q].
Qed.

(* Its condition read literally, "H preserves the relative norms", w'Hw/|w|^2 = g'Hg/|g|^2: it
   needs besides that g'Hg is not negative and gamma^2 <= sigma^2, which the text leaves out. *)
Theorem theorem_4_2_second_display_corrected
    (m : nat) (L : vec m -> R) (y : vec m) (gamma beta : R) :
  (0 < m)%nat -> 0 < variance y ->
  let z := bn gamma beta 0 y in let Lhat := fun x => L (bn gamma beta 0 x) in
  let sigma := deviation 0 y in let yhat := normalize 0 y in
  let g := gradient L z in let H := hessian L z in let w := gradient Lhat y in
  twice_differentiable L z ->
  dot w (H w) * norm2 g = dot g (H g) * norm2 w ->
  0 <= dot g (H g) -> gamma^2 <= sigma^2 ->
  dot w (hessian Lhat y w) <=
  gamma^2 / sigma^2 * dot g (H g) - gamma / (INR m * sigma^2) * dot g yhat * norm2 w.
Proof.
intros Hm V z Lhat sigma yhat g H w D ratio A0 short.
apply theorem_4_2_second_display; try assumption; fold z g H Lhat w.
assert (S : norm2 w <= norm2 g).
{ pose proof (theorem_4_1_bound m L y gamma beta Hm V (twice_once D)) as W.
  fold z Lhat sigma g w in W; apply (Rle_trans _ _ _ W).
  rewrite <- (Rmult_1_l (norm2 g)) at 2; apply Rmult_le_compat_r; [apply dot_pos|].
  facts; apply (Rmult_le_reg_r (deviation 0 y ^ 2)); [nonneg | field_simplify; nra]. }
destruct (Req_dec (norm2 g) 0) as [Z | N].
- assert (W : norm2 w = 0) by (pose proof (dot_pos w); lra).
  pose proof (cauchy_schwarz w (H w)) as C; rewrite W in C.
  assert (dot w (H w) = 0) by nra; lra.
- apply (Rmult_le_reg_r (norm2 g)); [now apply dot_positive | rewrite ratio].
  now apply Rmult_le_compat_l.
Qed.

(* The second display as printed, its condition read literally. *)
Definition theorem_4_2_second_display_printed : Prop := forall
    (m : nat) (L : vec m -> R) (y : vec m) (gamma beta : R),
  (0 < m)%nat -> 0 < variance y -> gamma <> 0 ->
  let z := bn gamma beta 0 y in let Lhat := fun x => L (bn gamma beta 0 x) in
  let sigma := deviation 0 y in let yhat := normalize 0 y in
  let g := gradient L z in let H := hessian L z in let w := gradient Lhat y in
  twice_differentiable L z ->
  dot w (H w) * norm2 g = dot g (H g) * norm2 w ->
  dot w (hessian Lhat y w) <=
  gamma^2 / sigma^2 * dot g (H g) - gamma / (INR m * sigma^2) * dot g yhat * norm2 w.

(* m = 4, y = (1, -1, 1, -1), gamma = 2, L z = <a, z> + |z|^2/2 with g = (1, 1, -1, -1): H = I
   preserves every ratio, w = 2 g, and 64 <= 16 is false. *)
Theorem theorem_4_2_second_display_refuted : ~ theorem_4_2_second_display_printed.
Proof.
intro claim.
set (y := vector4 1 (-1) 1 (-1)); set (g := vector4 1 1 (-1) (-1)).
set (a := vector4 (-1) 3 (-3) 1).
assert (size : 0 < INR 4) by (simpl; lra).
assert (mean0 : dot one y = 0) by (unfold y; rewrite one_vector4, dot_vector4; lra).
assert (variance1 : norm2 y = INR 4) by (unfold y; rewrite dot_vector4; simpl; lra).
assert (V : variance y = 1) by exact (variance_standardized size mean0 variance1).
assert (S : deviation 0 y = 1) by exact (deviation_standardized size mean0 variance1).
assert (N : normalize 0 y = y) by exact (normalize_standardized size mean0 variance1).
assert (D : twice_differentiable (quadratic a 1) (bn 2 0 0 y)) by apply twice_quadratic.
assert (g_is : gradient (quadratic a 1) (bn 2 0 0 y) = g).
{ rewrite gradient_quadratic, bn_normalize, N, one_vector4; unfold a, g, y.
  repeat rewrite ?vscale_vector4, ?vadd_vector4; f_equal; lra. }
assert (gg : norm2 g = 4) by (unfold g; rewrite dot_vector4; lra).
assert (gy : dot g y = 0) by (unfold g, y; rewrite dot_vector4; lra).
assert (w_is : gradient (fun x => quadratic a 1 (bn 2 0 0 x)) y = (2 *: g)%V).
{ rewrite gradient_through; [|exact size | lra | exact (twice_once D)].
  rewrite g_is; unfold jacobian, normalize_jacobian, project; rewrite N, S, mean_dot.
  rewrite one_vector4; unfold g, y at 1; rewrite !dot_vector4.
  apply vec_ext; intro i; unfold vscale, vsub; field. simpl; lra. }
assert (V0 : 0 < variance y) by lra.
pose proof (claim 4%nat (quadratic a 1) y 2 0 ltac:(auto with arith) V0 ltac:(lra) D) as wrong.
pose proof (theorem_4_2_equality 4 (quadratic a 1) y 2 0 ltac:(auto with arith) V0 D) as right.
cbv zeta in right, wrong; rewrite right in wrong; clear right.
rewrite w_is, g_is, !hessian_quadratic, N, S in wrong.
rewrite !dot_vscale_l, !dot_vscale_r, gg, gy in wrong.
lra.
Qed.

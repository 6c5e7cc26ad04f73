(* Theorem C.1: smoothness in the weights, over all inputs of norm at most lambda.

   beta(X) is the loss's second derivative in the weights along its own gradient there, X'g
   without the layer and X'h with it; g, H, sigma and yhat are held fixed while X varies. *)

From BatchNorm Require Import Tactics Inputs Instances.
From BatchNorm.santurkar2018 Require Import theorem_4_2.

(* (X'a)' (X'AX) (X'a) *)
Definition bending m d (X : inputs m d) (A : vec m -> vec m) (a : vec m) : R :=
  dot (back X a) (back X (A (outputs X (back X a)))).

Lemma bending_outputs m d (X : inputs m d) A a :
  bending m d X A a = dot (outputs X (back X a)) (A (outputs X (back X a))).
Proof. unfold bending; now rewrite exchange. Qed.

(* P X: every input without its parts along 1 and yhat. *)
Definition projected m d eps (y : vec m) (X : inputs m d) : inputs m d :=
  fun i j => project eps y (fun k => X k j) i.

Lemma project_symmetric m eps (y a b : vec m) : 0 < INR m ->
  dot (project eps y a) b = dot a (project eps y b).
Proof.
intro Hm; unfold project; rewrite !mean_dot.
rewrite !dot_vsub_l, !dot_vsub_r, !dot_vscale_l, !dot_vscale_r.
rewrite (dot_comm a one), (dot_comm a (normalize eps y)); field; lra.
Qed.

Lemma back_projected m d eps (y : vec m) (X : inputs m d) a : 0 < INR m ->
  back (projected m d eps y X) a = back X (project eps y a).
Proof.
intro Hm; apply vec_ext; intro j.
exact (project_symmetric m eps y (fun k => X k j) a Hm).
Qed.

Lemma outputs_projected m d eps (y : vec m) (X : inputs m d) w : 0 < INR m ->
  outputs (projected m d eps y X) w = project eps y (outputs X w).
Proof.
intro Hm; apply vec_eq; intro a.
rewrite dot_comm, exchange, (back_projected _ _ _ _ _ _ Hm), <- exchange.
now rewrite dot_comm, (project_symmetric m eps y a (outputs X w) Hm).
Qed.

(* What is right, for every X: v = XX'h. *)
Theorem theorem_c_1_corrected
    (m d : nat) (L : vec m -> R) (X : inputs m d) (y : vec m) (gamma beta : R) :
  (0 < m)%nat -> 0 < variance y ->
  let z := bn gamma beta 0 y in let Lhat := fun x => L (bn gamma beta 0 x) in
  let sigma := deviation 0 y in let yhat := normalize 0 y in
  let g := gradient L z in let H := hessian L z in
  let h := gradient Lhat y in let v := outputs X (back X h) in
  let PX := projected m d 0 y X in let Pv := project 0 y v in
  twice_differentiable L z ->
  bending m d X (hessian Lhat y) h =
  (gamma / sigma)^4 * bending m d PX H g
  - gamma / (INR m * sigma^2) * dot g yhat * norm2 Pv
  - 2 / (INR m * sigma) * dot h v * dot yhat v.
Proof.
intros Hm V z Lhat sigma yhat g H h v PX Pv D.
assert (M : 0 < INR m) by now apply positive_size.
set (q := outputs X (back X (project 0 y g))).
assert (h_is : h = (gamma / sigma *: project 0 y g)%V).
{ unfold h, Lhat, sigma, g, project; facts; vector_identity. }
assert (v_is : v = (gamma / sigma *: q)%V).
{ unfold v, q. now rewrite h_is, back_scale, outputs_scale. }
rewrite !bending_outputs; unfold PX; fold v.
rewrite (outputs_projected _ _ _ _ _ _ M), (back_projected _ _ _ _ _ _ M); fold q.
unfold Pv; rewrite v_is; clearbody q; clear h_is v_is.
identity.
Qed.

(* t^3 (1 - t) is at most 27/256, its value at t = 3/4; here t = a / T. *)
Lemma cubic_times_rest a T : a ^ 3 * (T - a) <= 27 / 256 * T ^ 4.
Proof.
assert (0 <= (a - 3/4 * T) ^ 2 * (a ^ 2 + a * T / 2 + 3/16 * T ^ 2)); [|lra].
apply Rmult_le_pos; [apply pow2_ge_0 | nra].
Qed.

(* The last term is at most (3 sqrt 3 / 8) lambda^4 |h|^3 / (sigma sqrt m) in size. *)
Theorem theorem_c_1_last_term
    (m d : nat) (L : vec m -> R) (X : inputs m d) (y : vec m) (gamma beta lambda : R) :
  (0 < m)%nat -> 0 < variance y -> 0 <= lambda -> spectral_at_most X lambda ->
  let z := bn gamma beta 0 y in let Lhat := fun x => L (bn gamma beta 0 x) in
  let sigma := deviation 0 y in let yhat := normalize 0 y in
  let h := gradient Lhat y in let v := outputs X (back X h) in
  differentiable L z ->
  (2 / (INR m * sigma) * dot h v * dot yhat v) ^ 2
  <= 27 / 64 * lambda^8 * norm2 h ^ 3 / (INR m * sigma^2).
Proof.
intros Hm V l0 B z Lhat sigma yhat h v D.
assert (M : 0 < INR m) by now apply positive_size.
assert (S : 0 < sigma) by (unfold sigma; facts; assumption).
assert (orthogonal : dot yhat h = 0) by (unfold yhat, h, Lhat; identity).
assert (length : norm2 yhat = INR m) by (unfold yhat; identity).
assert (inside : dot h v = norm2 (back X h)) by (unfold v; now rewrite dot_comm, exchange).
assert (short : norm2 v <= lambda^2 * dot h v).
{ rewrite inside; pose proof (B (back X h)) as b; fold v in b; rewrite <- !norm_sq.
  pose proof (norm_ge0 v); pose proof (norm_ge0 (back X h)).
  replace (lambda^2 * (norm (back X h) * norm (back X h)))
    with ((lambda * norm (back X h)) * (lambda * norm (back X h))) by ring.
  now apply Rmult_le_compat. }
assert (a0 : 0 <= dot h v) by (rewrite inside; apply dot_pos).
pose proof (dot_pos h) as n0; pose proof (cauchy_schwarz h v) as hv.
assert (key : norm2 h * dot yhat v ^ 2
              <= INR m * (dot h v * (lambda^2 * norm2 h - dot h v))).
{ pose proof (cauchy_schwarz yhat (norm2 h *: v - dot h v *: h)%V) as C.
  rewrite dot_vsub_r, !dot_vscale_r, orthogonal, length in C.
  rewrite !dot_vsub_l, !dot_vsub_r, !dot_vscale_l, !dot_vscale_r, (dot_comm v h) in C.
  destruct (Req_dec (norm2 h) 0) as [Z | N].
  - rewrite Z in *; assert (dot h v = 0) as -> by nra; lra.
  - apply (Rmult_le_reg_l (norm2 h)); [lra|].
    apply (Rle_trans _ (INR m * (norm2 h * (norm2 h * norm2 v - dot h v ^ 2)))); [lra|].
    replace (norm2 h * (INR m * (dot h v * (lambda ^ 2 * norm2 h - dot h v))))
      with (INR m * (norm2 h * (norm2 h * (lambda^2 * dot h v) - dot h v ^ 2))) by ring.
    apply Rmult_le_compat_l; [lra|]; apply Rmult_le_compat_l; [lra|].
    apply Rplus_le_compat_r, Rmult_le_compat_l; lra. }
pose proof (cubic_times_rest (dot h v) (lambda^2 * norm2 h)) as cubic.
replace ((2 / (INR m * sigma) * dot h v * dot yhat v) ^ 2)
  with (4 / (INR m * sigma^2) * (dot h v ^ 2 * dot yhat v ^ 2 / INR m)) by (field; lra).
replace (27 / 64 * lambda^8 * norm2 h ^ 3 / (INR m * sigma^2))
  with (4 / (INR m * sigma^2) * (27 / 256 * lambda^8 * norm2 h ^ 3)) by (field; lra).
apply Rmult_le_compat_l; [facts; nonneg|].
apply (Rmult_le_reg_r (INR m)); [exact M|].
replace (dot h v ^ 2 * dot yhat v ^ 2 / INR m * INR m) with (dot h v ^ 2 * dot yhat v ^ 2)
  by (field; lra).
destruct (Req_dec (norm2 h) 0) as [Z | N].
- assert (dot h v = 0) as -> by (rewrite Z in hv; nra); rewrite Z; lra.
- apply (Rmult_le_reg_l (norm2 h)); [lra|].
  apply (Rle_trans _ (INR m * (dot h v ^ 3 * (lambda^2 * norm2 h - dot h v)))).
  + replace (norm2 h * (dot h v ^ 2 * dot yhat v ^ 2))
      with (dot h v ^ 2 * (norm2 h * dot yhat v ^ 2)) by ring.
    replace (INR m * (dot h v ^ 3 * (lambda^2 * norm2 h - dot h v)))
      with (dot h v ^ 2 * (INR m * (dot h v * (lambda^2 * norm2 h - dot h v)))) by ring.
    apply Rmult_le_compat_l; [apply pow2_ge_0 | exact key].
  + replace (norm2 h * (27 / 256 * lambda^8 * norm2 h ^ 3 * INR m))
      with (INR m * (27 / 256 * (lambda^2 * norm2 h) ^ 4)) by ring.
    apply Rmult_le_compat_l; [lra | exact cubic].
Qed.

(* kappa, "the separation given in the previous theorem", can be what the brackets of Theorem 4.2's
   displays subtract, what Theorem 4.4 subtracts, or g'Hg - (sigma/gamma)^2 h'(hessian of Lhat)h. *)
Inductive reading := second_display | first_display | of_weights | difference.
Definition kappa (r : reading) m (L : vec m -> R) (y : vec m) (gamma beta lambda : R) : R :=
  let z := bn gamma beta 0 y in let Lhat := fun x => L (bn gamma beta 0 x) in
  let sigma := deviation 0 y in let yhat := normalize 0 y in
  let g := gradient L z in let h := gradient Lhat y in
  match r with
  | second_display => dot g yhat * norm2 h / (INR m * gamma)
  | first_display => gamma / (INR m * sigma^2) * dot g yhat * norm2 h
  | of_weights => INR m * mean g ^ 2 + lambda^2 * dot g yhat ^ 2
  | difference => dot g (hessian L z g) - sigma^2 / gamma^2 * dot h (hessian Lhat y h)
  end.

(* The theorem as printed says "<", and of all X of norm at most lambda; here "<=", of one column u of
   norm lambda, and of linear losses alone, which is weaker.  bound stands for max beta. *)
Definition theorem_c_1_printed (r : reading) : Prop := forall
    (m : nat) (L : vec m -> R) (y u : vec m) (gamma beta lambda bound : R),
  (0 < m)%nat -> 0 < lambda -> 0 < variance y -> gamma <> 0 ->
  let z := bn gamma beta 0 y in let Lhat := fun x => L (bn gamma beta 0 x) in
  let sigma := deviation 0 y in let g := gradient L z in let h := gradient Lhat y in
  twice_differentiable L z -> (forall v, norm2 (hessian L z v) = 0) ->
  (forall X : inputs m 1, spectral_at_most X lambda -> bending m 1 X (hessian L z) g <= bound) ->
  norm2 u = lambda^2 ->
  bending m 1 (column u) (hessian Lhat y) h
  <= gamma^2 / sigma^2 * (bound - lambda^4 * kappa r m L y gamma beta lambda).

(* m = 4, d = 1, y = (1, -1, 1, -1), gamma = sigma = lambda = 1, L z = <g, z> with
   g = (1, 1, -1, -1), u = (0, 3/5, -4/5, 0): every kappa is 0, beta is 0, and 2401/1250 <= 0 is
   false. *)
Theorem theorem_c_1_refuted (r : reading) : ~ theorem_c_1_printed r.
Proof.
intro claim.
set (y := vector4 1 (-1) 1 (-1)); set (g := vector4 1 1 (-1) (-1)).
set (x := vector4 0 (3/5) (-4/5) 0).
assert (size : 0 < INR 4) by (simpl; lra).
assert (mean0 : dot one y = 0) by (unfold y; rewrite one_vector4, dot_vector4; lra).
assert (variance1 : norm2 y = INR 4) by (unfold y; rewrite dot_vector4; simpl; lra).
assert (V : variance y = 1) by exact (variance_standardized size mean0 variance1).
assert (S : deviation 0 y = 1) by exact (deviation_standardized size mean0 variance1).
assert (N : normalize 0 y = y) by exact (normalize_standardized size mean0 variance1).
assert (D : twice_differentiable (quadratic g 0) (bn 1 0 0 y)) by apply twice_quadratic.
assert (g_is : forall z, gradient (quadratic g 0) z = g).
{ intro z; rewrite gradient_quadratic; apply vec_ext; intro i; unfold vadd, vscale; lra. }
assert (gg : norm2 g = 4) by (unfold g; rewrite dot_vector4; lra).
assert (gy : dot g y = 0) by (unfold g, y; rewrite dot_vector4; lra).
assert (mg : mean g = 0).
{ rewrite mean_dot; unfold g; rewrite one_vector4, dot_vector4; simpl; lra. }
assert (P : forall a, project 0 y a = (a - mean a *: one - dot y a / 4 *: y)%V).
{ intro a; unfold project; rewrite N; do 3 f_equal; simpl; lra. }
assert (h_is : gradient (fun x => quadratic g 0 (bn 1 0 0 x)) y = g).
{ rewrite gradient_through; [|exact size | lra | exact (twice_once D)].
  rewrite g_is; unfold jacobian, normalize_jacobian; rewrite S, P, mg, (dot_comm y g), gy.
  apply vec_ext; intro i; unfold vscale, vsub; field. }
assert (V0 : 0 < variance y) by lra.
assert (four : (0 < 4)%nat) by auto with arith.
pose proof (theorem_4_2_equality 4 (quadratic g 0) y 1 0 four V0 D) as along_h.
pose proof (theorem_c_1_corrected 4 1 (quadratic g 0) (column x) y 1 0 four V0 D) as right.
assert (linear : forall u, norm2 (hessian (quadratic g 0) (bn 1 0 0 y) u) = 0).
{ intro u; rewrite hessian_quadratic, dot_vscale_l; lra. }
pose proof (claim 4%nat (quadratic g 0) y x 1 0 1 0 four Rlt_0_1 V0 R1_neq_R0 D linear) as wrong.
cbv zeta in along_h, right, wrong; clear claim.
rewrite h_is, g_is, hessian_quadratic, N, S, gy, dot_vscale_r in along_h.
rewrite h_is, g_is, N, S, gy, !bending_outputs, !outputs_back_column in right.
assert (K : kappa r 4 (quadratic g 0) y 1 0 1 = 0).
{ unfold kappa; destruct r; rewrite ?h_is, ?g_is, ?N, ?S, ?mg, ?gy, ?along_h;
    rewrite ?hessian_quadratic, ?dot_vscale_r; simpl; lra. }
rewrite K, h_is, S in wrong.
specialize (wrong ltac:(intros X B; rewrite bending_outputs, hessian_quadratic, dot_vscale_r; lra)
  ltac:(unfold x; rewrite dot_vector4; lra)).
rewrite bending_outputs, outputs_back_column, right in wrong.
rewrite hessian_quadratic, !dot_vscale_r in wrong.
unfold x, g, y in wrong; rewrite !dot_vector4 in wrong; simpl INR in wrong; lra.
Qed.

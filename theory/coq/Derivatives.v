(* The layer's derivatives, and the loss's through the layer.

     project eps y u              P u = u - mean u 1 - <yhat, u>/m yhat
     jacobian gamma eps y u       gamma/sigma P u, the layer's derivative along u
     hessian_form gamma eps y g v u
                                  the right side of (41)-(42) for the direction u, where g is
                                  the loss's gradient at the layer's output and v its Hessian
                                  there applied to the layer's derivative along u

   The theorems hold for every length m > 0, every eps with 0 < variance y + eps, and every loss
   that is differentiable (twice differentiable) at the layer's output. *)

From Coq Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From mathcomp Require Import ssreflect ssrbool ssrfun eqtype fintype bigop.
From BatchNorm Require Import Vectors Calculus Layer.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

(* ---- derivatives at t = 0 of functions of t: dual numbers ---- *)

Definition sder (f : R -> R) (d : R) := is_derive f 0 d.
Definition vder m (f : R -> vec m) (d : vec m) := forall i, sder (fun t => f t i) (d i).

Section ScalarRules.
Variables (f g : R -> R) (a b : R).
Lemma sder_eq : sder f a -> a = b -> sder f b. Proof. by move=> D <-. Qed.
Lemma s_const c : sder (fun _ => c) 0. Proof. exact: is_derive_const. Qed.
Lemma s_id : sder (fun t => t) 1. Proof. by rewrite /sder; auto_derive. Qed.
Lemma s_add : sder f a -> sder g b -> sder (fun t => f t + g t) (a + b).
Proof. exact: is_derive_plus. Qed.
Lemma s_sub : sder f a -> sder g b -> sder (fun t => f t - g t) (a - b).
Proof. exact: is_derive_minus. Qed.
Lemma s_opp : sder f a -> sder (fun t => - f t) (- a).
Proof. exact: is_derive_opp. Qed.
Lemma s_mul : sder f a -> sder g b -> sder (fun t => f t * g t) (a * g 0 + f 0 * b).
Proof. by move=> A B; have := is_derive_mult f g 0 _ _ A B Rmult_comm; rewrite /plus /mult. Qed.
Lemma s_div : sder f a -> sder g b -> g 0 <> 0 ->
  sder (fun t => f t / g t) ((a * g 0 - f 0 * b) / g 0 ^ 2).
Proof. exact: is_derive_div. Qed.
Lemma s_pow n : sder f a -> sder (fun t => f t ^ n) (INR n * a * f 0 ^ (Nat.pred n)).
Proof. exact: is_derive_pow. Qed.
Lemma s_sqrt : sder f a -> 0 < f 0 -> sder (fun t => sqrt (f t)) (a / (2 * sqrt (f 0))).
Proof. exact: is_derive_sqrt. Qed.
Lemma s_near : locally 0 (fun t => g t = f t) -> sder g a -> sder f a.
Proof. exact: is_derive_ext_loc. Qed.
Lemma s_ext : (forall t, g t = f t) -> sder g a -> sder f a.
Proof. exact: is_derive_ext. Qed.
End ScalarRules.

Lemma s_square f a : sder f a -> sder (fun t => f t ^ 2) (2 * (f 0 * a)).
Proof. by move=> A; apply: sder_eq (s_pow 2 A) _; rewrite /=; ring. Qed.

Section VectorRules.
Variables (m : nat) (f g : R -> vec m) (a b : vec m) (s : R -> R) (ds : R).

Lemma v_const (c : vec m) : vder (fun _ => c) (0 *: one).
Proof. by move=> i; rewrite /vscale Rmult_0_l; apply: s_const. Qed.
Lemma v_move (y u : vec m) : vder (fun t => move y u t) u.
Proof. by move=> i; apply: is_derive_move. Qed.
Lemma v_add : vder f a -> vder g b -> vder (fun t => f t + g t)%V (a + b).
Proof. by move=> A B i; apply: s_add. Qed.
Lemma v_sub : vder f a -> vder g b -> vder (fun t => f t - g t)%V (a - b).
Proof. by move=> A B i; apply: s_sub. Qed.
Lemma v_scale : sder s ds -> vder f a -> vder (fun t => s t *: f t)%V (ds *: f 0 + s 0 *: a).
Proof. by move=> S A i; have := s_mul S (A i). Qed.
Lemma s_dot : vder f a -> vder g b -> sder (fun t => dot (f t) (g t)) (dot a (g 0) + dot (f 0) b).
Proof. exact: is_derive_dot. Qed.
Lemma s_sum : vder f a -> sder (fun t => sum (f t)) (sum a).
Proof. exact: is_derive_sum. Qed.
Lemma s_mean : vder f a -> sder (fun t => mean (f t)) (mean a).
Proof.
move=> A; apply: (s_ext (g := fun t => / INR m * sum (f t))) => [t|]; first exact: Rmult_comm.
by rewrite /mean /Rdiv Rmult_comm; apply: is_derive_scal; apply: s_sum.
Qed.
Lemma v_near : locally 0 (fun t => g t = f t) -> vder g a -> vder f a.
Proof. by move=> E A i; apply: s_near (A i); apply: filter_imp E => t ->. Qed.
End VectorRules.

Section Values.
Variable m : nat.
Lemma along_is (F : vec m -> R) y u d : sder (fun t => F (move y u t)) d -> along F y u = d.
Proof. exact: is_derive_unique. Qed.
Lemma valong_is (F : vec m -> vec m) y u d :
  vder (fun t => F (move y u t)) d -> valong F y u = d.
Proof. by move=> D; apply: vec_ext => k; apply: is_derive_unique; apply: D. Qed.
Lemma gradient_is (F : vec m -> R) y g :
  (forall u, sder (fun t => F (move y u t)) (dot g u)) -> gradient F y = g.
Proof. by move=> D; apply: vec_ext => k; rewrite /gradient (along_is (D _)) dot_basis. Qed.
End Values.

(* ---- the layer along a curve ---- *)

Section Forms.
Variables (m : nat) (gamma eps : R) (y : vec m).
Let sigma := deviation eps y.
Let yhat := normalize eps y.

Definition project (u : vec m) : vec m := (u - mean u *: one - dot yhat u / INR m *: yhat)%V.
Definition normalize_jacobian (u : vec m) : vec m := (1 / sigma *: project u)%V.
Definition jacobian (u : vec m) : vec m := (gamma *: normalize_jacobian u)%V.

Definition hessian_form (g v u : vec m) : vec m :=
  (jacobian v - gamma / (INR m * sigma^2) *:
     (dot yhat u *: centre g + dot (centre g) u *: yhat + dot yhat g *: centre u
      - 3 / INR m * dot yhat g * dot yhat u *: yhat))%V.
End Forms.

Section Layer.
Variables (m : nat) (eps gamma beta : R) (f w : R -> vec m) (a : vec m).
Hypothesis m_pos : 0 < INR m.
Hypothesis positive : 0 < variance (f 0) + eps.
Hypothesis F : vder f a.

Lemma s_variance : sder (fun t => variance (f t)) (2 * dot (centre (f 0)) a / INR m).
Proof.
have C : vder (fun t => centre (f t)) (centre a).
  apply: v_sub F _ => i; rewrite /vscale /one Rmult_1_r.
  by apply: s_ext (s_mean F) => t; rewrite Rmult_1_r.
apply: (s_ext (g := fun t => / INR m * norm2 (centre (f t)))) => [t|].
  by rewrite variance_dot Rmult_comm.
apply: (sder_eq (s_mul (s_const (/ INR m)) (s_dot C C))).
by rewrite (dot_comm (centre a)) (dot_centre_centre m_pos (f 0) a); field; lra.
Qed.

Lemma positive_along : locally 0 (fun t => 0 < variance (f t) + eps).
Proof.
have C := ex_derive_continuous _ _ (ex_intro _ _ s_variance).
apply: (C (fun v => 0 < v + eps)); exists (mkposreal _ positive) => v.
rewrite /ball /= /AbsRing_ball /abs /minus /plus /opp /= => H.
by have := Rle_abs (- (v + - variance (f 0))); rewrite Rabs_Ropp; lra.
Qed.

Lemma s_deviation : sder (fun t => deviation eps (f t)) (dot (normalize eps (f 0)) a / INR m).
Proof.
have S := deviation_pos positive.
apply: (sder_eq (s_sqrt (s_add s_variance (s_const eps)) positive)).
rewrite -/(deviation eps (f 0)) normalize_centre dot_vscale_l; field; lra.
Qed.

Lemma v_normalize : vder (fun t => normalize eps (f t)) (normalize_jacobian eps (f 0) a).
Proof.
move=> i; have S := deviation_pos positive.
apply: (sder_eq (s_div (s_sub (F i) (s_mean F)) s_deviation (Rgt_not_eq _ _ S))).
by rewrite /normalize_jacobian /project /vscale /vsub /one {3}/normalize; field; lra.
Qed.

Lemma v_bn : vder (fun t => bn gamma beta eps (f t)) (jacobian gamma eps (f 0) a).
Proof.
move=> i; apply: (sder_eq (s_add (s_mul (s_const gamma) (v_normalize i)) (s_const beta))).
by rewrite /jacobian {1}/vscale; ring.
Qed.
End Layer.

(* ---- Facts C.1 and C.2 ---- *)

Section FirstOrder.
Variables (m : nat) (gamma beta eps : R) (y : vec m).
Hypothesis m_pos : 0 < INR m.
Hypothesis positive : 0 < variance y + eps.
Let sigma := deviation eps y.
Let yhat := normalize eps y.
Let z := bn gamma beta eps y.

Lemma positive0 u : 0 < variance (move y u 0) + eps. Proof. by rewrite move0. Qed.

Lemma bn_along u : vder (fun t => bn gamma beta eps (move y u t)) (jacobian gamma eps y u).
Proof. by have := v_bn gamma beta m_pos (positive0 u) (v_move y u); rewrite move0. Qed.

Lemma valong_normalize u : valong (normalize eps) y u = normalize_jacobian eps y u.
Proof.
by apply: valong_is; have := v_normalize m_pos (positive0 u) (v_move y u); rewrite move0.
Qed.

(* Fact C.2, equations (1) and (2): the layer's derivative along u ... *)
Lemma valong_bn u : valong (bn gamma beta eps) y u = jacobian gamma eps y u.
Proof. exact: valong_is (bn_along u). Qed.

Lemma jacobian_symmetric a b : dot a (jacobian gamma eps y b) = dot (jacobian gamma eps y a) b.
Proof.
have S := deviation_pos positive.
rewrite /jacobian /normalize_jacobian /project !mean_dot.
rewrite !(dot_vscale_l, dot_vscale_r, dot_vsub_l, dot_vsub_r).
by rewrite (dot_comm a one) (dot_comm a (normalize eps y)); field; lra.
Qed.

(* ... and entry by entry. *)
Lemma jacobian_entry b k : along (fun x => bn gamma beta eps x b) y (basis k) =
  gamma / sigma * ((if b == k then 1 else 0) - 1 / INR m - yhat b * yhat k / INR m).
Proof.
have S := deviation_pos positive.
rewrite (along_is (bn_along (basis k) b)) /jacobian /normalize_jacobian /project /vscale /vsub /one.
rewrite dot_basis mean_dot dot_basis /one {1}/basis /yhat /sigma.
by case: ifP => _; field; lra.
Qed.

Lemma loss_along L g u : frechet L z g ->
  sder (fun t => L (bn gamma beta eps (move y u t))) (dot g (jacobian gamma eps y u)).
Proof. by move=> D; apply: chain_rule => [|i]; [rewrite move0|apply: bn_along]. Qed.

(* The gradient through the layer. *)
Lemma gradient_through L : differentiable L z ->
  gradient (fun x => L (bn gamma beta eps x)) y = jacobian gamma eps y (gradient L z).
Proof.
move=> [g D]; rewrite (frechet_gradient D); apply: vec_ext => k.
by rewrite /gradient (along_is (loss_along (basis k) D)) jacobian_symmetric dot_basis.
Qed.

Lemma along_through L u : differentiable L z ->
  along (fun x => L (bn gamma beta eps x)) y u = dot (jacobian gamma eps y (gradient L z)) u.
Proof.
by move=> [g D]; rewrite (along_is (loss_along u D)) (frechet_gradient D) jacobian_symmetric.
Qed.

Lemma gradient_entry L : differentiable L z -> forall b,
  let g := gradient L z in
  gradient (fun x => L (bn gamma beta eps x)) y b =
  gamma / (INR m * sigma) * (INR m * g b - sum g - yhat b * sum (fun k => g k * yhat k)).
Proof.
move=> D b g; have S := deviation_pos positive.
rewrite (gradient_through D) /jacobian /normalize_jacobian /project /vscale /vsub /one -/g.
rewrite -/(dot g yhat) (dot_comm g) /mean -/yhat -/sigma; field.
by rewrite /sigma; lra.
Qed.
End FirstOrder.

Theorem fact_C_2 (m : nat) (y : vec m) (gamma beta eps : R) (b k : 'I_m) :
  (0 < m)%nat -> 0 < variance y + eps ->
  let sigma := deviation eps y in let yhat := normalize eps y in
  along (fun x => bn gamma beta eps x b) y (basis k) =
  gamma / sigma * ((if b == k then 1 else 0) - 1 / INR m - yhat b * yhat k / INR m).
Proof. by move=> /lt_0_INR m_pos positive; apply: jacobian_entry. Qed.

(* With gamma: the gradient through the layer, entry by entry. *)
Theorem fact_C_1 (m : nat) (L : vec m -> R) (y : vec m) (gamma beta eps : R) (b : 'I_m) :
  (0 < m)%nat -> 0 < variance y + eps ->
  let z := bn gamma beta eps y in let Lhat := fun x => L (bn gamma beta eps x) in
  let sigma := deviation eps y in let yhat := normalize eps y in let g := gradient L z in
  differentiable L z ->
  gradient Lhat y b =
  gamma / (INR m * sigma) * (INR m * g b - sum g - yhat b * sum (fun k => g k * yhat k)).
Proof. by move=> /lt_0_INR m_pos positive z Lhat sigma yhat g D; apply: gradient_entry. Qed.

(* ---- a loss along a curve ---- *)

Section Loss.
Variables (m : nat) (L : vec m -> R) (f w : R -> vec m) (a : vec m).
Hypothesis F : vder f a.

Lemma s_loss : differentiable L (f 0) -> sder (fun t => L (f t)) (dot (gradient L (f 0)) a).
Proof. by move=> [g D]; rewrite (frechet_gradient D); apply: chain_rule. Qed.

Lemma twice_near :
  twice_differentiable L (f 0) -> locally 0 (fun t => differentiable L (f t)).
Proof.
move=> [G [H [[delta [Hd HF]] _]]].
have HP d : norm d < delta -> differentiable L (f 0 + d) by move=> /HF; exists (G (f 0 + d)%V).
exact: near_along Hd HP F.
Qed.

Lemma v_gradient_loss : twice_differentiable L (f 0) ->
  vder (fun t => gradient L (f t)) (hessian L (f 0) a).
Proof.
move=> [G [H [near second]]].
have [E D] := is_derive_gradient_along near second F.
rewrite (hessian_along _ near second); apply: v_near D.
by apply: filter_imp E => t ->.
Qed.

Lemma v_hessian z : twice_differentiable L z ->
  vder (fun t => hessian L z (f t)) (hessian L z a).
Proof.
move=> T i.
have E v : hessian L z v i = dot (hessian L z (basis i)) v.
  by rewrite -hessian_symmetric // dot_comm dot_basis.
apply: (s_ext (g := fun t => dot (hessian L z (basis i)) (f t))) => [t|]; first by rewrite E.
rewrite E; apply: sder_eq (s_dot (v_const _) F) _.
by rewrite dot_vscale_l Rmult_0_l Rplus_0_l.
Qed.

Lemma s_along_loss d : twice_differentiable L (f 0) ->
  sder (fun t => dot (gradient L (f t)) (w t)) d -> sder (fun t => along L (f t) (w t)) d.
Proof.
by move=> T; apply: s_near; apply: filter_imp (twice_near T) => t Q; rewrite along_gradient.
Qed.
End Loss.

Section LossThroughLayer.
Variables (m : nat) (L : vec m -> R) (gamma beta eps : R) (f w : R -> vec m) (a : vec m).
Hypothesis m_pos : 0 < INR m.
Hypothesis positive : 0 < variance (f 0) + eps.
Hypothesis F : vder f a.

Lemma v_valong_normalize d : vder (fun t => normalize_jacobian eps (f t) (w t)) d ->
  vder (fun t => valong (normalize eps) (f t) (w t)) d.
Proof.
apply: v_near; apply: filter_imp (positive_along m_pos positive F) => t P.
by rewrite valong_normalize.
Qed.

Lemma v_valong_bn d : vder (fun t => jacobian gamma eps (f t) (w t)) d ->
  vder (fun t => valong (bn gamma beta eps) (f t) (w t)) d.
Proof.
apply: v_near; apply: filter_imp (positive_along m_pos positive F) => t P.
by rewrite valong_bn.
Qed.

Hypothesis twice : twice_differentiable L (bn gamma beta eps (f 0)).

Lemma near_both : locally 0 (fun t => 0 < variance (f t) + eps /\
  differentiable L (bn gamma beta eps (f t))).
Proof.
apply: filter_and; first exact: (positive_along m_pos positive F).
exact: (twice_near (v_bn gamma beta m_pos positive F) twice).
Qed.

Lemma s_along_bn d :
  sder (fun t => dot (jacobian gamma eps (f t) (gradient L (bn gamma beta eps (f t)))) (w t)) d ->
  sder (fun t => along (fun x => L (bn gamma beta eps x)) (f t) (w t)) d.
Proof. by apply: s_near; apply: filter_imp near_both => t [P Q]; rewrite along_through. Qed.

Lemma v_gradient_bn d :
  vder (fun t => jacobian gamma eps (f t) (gradient L (bn gamma beta eps (f t)))) d ->
  vder (fun t => gradient (fun x => L (bn gamma beta eps x)) (f t)) d.
Proof. by apply: v_near; apply: filter_imp near_both => t [P Q]; rewrite gradient_through. Qed.
End LossThroughLayer.

(* ---- equations (41)-(42) ---- *)

(* The Hessian of the loss through the layer, applied to a direction. *)
Theorem equation_41_42 m (L : vec m -> R) (gamma beta eps : R) (y u : vec m) :
  0 < INR m -> 0 < variance y + eps -> let z := bn gamma beta eps y in
  twice_differentiable L z ->
  hessian (fun x => L (bn gamma beta eps x)) y u =
  hessian_form gamma eps y (gradient L z) (hessian L z (jacobian gamma eps y u)) u.
Proof.
move=> m_pos positive z D; have S := deviation_pos positive.
have P0 := positive0 positive u; have Y := v_move y u.
have D0 : twice_differentiable L (bn gamma beta eps (move y u 0)) by rewrite move0.
have C := v_gradient_loss (v_bn gamma beta m_pos P0 Y) D0.
apply: valong_is; apply: (v_gradient_bn m_pos P0 Y D0) => i.
have N := v_normalize m_pos P0 Y; have sigma := s_deviation m_pos P0 Y.
have inner := s_div (s_dot N C) (s_const (INR m)) (Rgt_not_eq _ _ m_pos).
have S0 : deviation eps (move y u 0) <> 0 by rewrite move0; lra.
apply: (sder_eq (s_mul (s_const gamma) (s_mul (s_div (s_const 1) sigma S0)
  (s_sub (s_sub (C i) (s_mul (s_mean C) (s_const 1))) (s_mul inner (N i)))))).
rewrite !move0 -/z; move: (gradient L z) (hessian L z _) => g v.
have -> : dot (normalize_jacobian eps y u) g
  = / deviation eps y *
    (dot (centre g) u - dot (normalize eps y) u / INR m * dot (normalize eps y) g).
  rewrite /normalize_jacobian /project /centre !(dot_vscale_l, dot_vsub_l) !mean_dot (dot_comm u g).
  by field; lra.
rewrite /hessian_form /jacobian /normalize_jacobian /project /centre /vsub /vscale /vadd /one.
by field; lra.
Qed.

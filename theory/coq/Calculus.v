(* Derivatives of functions of a vector, and the Hessian's symmetry.

   Everything rests on the derivative of a function of one real number (Coquelicot's Derive):

     move y u t        the point y + t u of a line
     along F y u       the derivative of a number F at y along u
     valong F y u      the derivative of a vector F at y along u
     gradient F y      the partial derivatives of F at y
     hessian F y u     the Hessian of F at y applied to u: the derivative of the gradient along u

   A loss is assumed differentiable in the sense of Frechet where it is differentiated, and no
   more: near z it is linear up to an error that is small against the distance.  A loss that is
   twice differentiable at z has a gradient near z, and that gradient is differentiable at z; its
   second derivatives need not be continuous. *)

From Coq Require Import Reals Lra Psatz FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From mathcomp Require Import ssreflect ssrbool ssrfun eqtype ssrnat seq fintype bigop.
From BatchNorm Require Import Vectors.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.
Local Notation norm := Vectors.norm.

(* ---- what statements speak of ---- *)

Section Definitions.
Variable m : nat.

Definition move (y u : vec m) (t : R) : vec m := (y + t *: u)%V.
Definition along (F : vec m -> R) (y u : vec m) : R := Derive (fun t => F (move y u t)) 0.
Definition valong (F : vec m -> vec m) (y u : vec m) : vec m :=
  fun k => along (fun x => F x k) y u.
Definition gradient (F : vec m -> R) (y : vec m) : vec m := fun k => along F y (basis k).

Definition frechet (F : vec m -> R) (z g : vec m) : Prop :=
  forall eps, 0 < eps -> exists delta, 0 < delta /\
    forall d, norm d < delta -> Rabs (F (z + d)%V - F z - dot g d) <= eps * norm d.
Definition differentiable F z := exists g, frechet F z g.

(* G is the gradient of F near z; its entries are differentiable at z, H their gradients. *)
Definition gradient_near F z (G : vec m -> vec m) : Prop :=
  exists delta, 0 < delta /\ forall d, norm d < delta -> frechet F (z + d) (G (z + d)%V).
Definition twice_differentiable (F : vec m -> R) (z : vec m) : Prop :=
  exists (G : vec m -> vec m) (H : 'I_m -> vec m),
    gradient_near F z G /\ forall k, frechet (fun x => G x k) z (H k).
End Definitions.

Notation hessian F := (valong (gradient F)).

(* ---- curves ---- *)

Section Curves.
Variable m : nat.
Implicit Types a b u w y z : vec m.

Lemma vadd0 z : (z + (fun _ => 0))%V = z.
Proof. by apply: vec_ext => i; rewrite /vadd Rplus_0_r. Qed.
Lemma move0 y u : move y u 0 = y.
Proof. by apply: vec_ext => i; rewrite /move /vadd /vscale; ring. Qed.
Lemma norm0 : norm (fun _ : 'I_m => 0) = 0.
Proof. by rewrite /Vectors.norm dot_zero_l sqrt_0. Qed.

Lemma is_derive_move y u i t : is_derive (fun t => move y u t i) t (u i).
Proof. by rewrite /move /vadd /vscale; auto_derive => //; ring. Qed.

Lemma is_derive_sum (f : R -> vec m) (x : R) (d : vec m) :
  (forall i, is_derive (fun t => f t i) x (d i)) -> is_derive (fun t => sum (f t)) x (sum d).
Proof.
move=> D; rewrite /sum; elim: (index_enum _) => [|j r IH].
  by apply: (is_derive_ext (fun _ => 0)) => [t|]; rewrite ?big_nil //; apply: is_derive_const.
apply: (is_derive_ext (fun t => f t j + \big[Rplus/0]_(i <- r) f t i)) => [t|]; rewrite big_cons //.
exact: (is_derive_plus _ _ _ _ _ (D j) IH).
Qed.

Lemma is_derive_dot (f g : R -> vec m) (x : R) (df dg : vec m) :
  (forall i, is_derive (fun t => f t i) x (df i)) ->
  (forall i, is_derive (fun t => g t i) x (dg i)) ->
  is_derive (fun t => dot (f t) (g t)) x (dot df (g x) + dot (f x) dg).
Proof.
move=> Df Dg; rewrite /dot -sum_add; apply: is_derive_sum => i.
have := is_derive_mult (fun t => f t i) (fun t => g t i) x _ _ (Df i) (Dg i) Rmult_comm.
by rewrite /plus /mult /=.
Qed.

Lemma is_derive_dot_const a (f : R -> vec m) (x : R) (d : vec m) :
  (forall i, is_derive (fun t => f t i) x (d i)) -> is_derive (fun t => dot a (f t)) x (dot a d).
Proof.
move=> D; have := @is_derive_dot (fun _ => a) f x (fun _ => 0) d (fun i => is_derive_const _ _) D.
by rewrite dot_zero_l Rplus_0_l.
Qed.

(* The derivative at 0 in the words of Frechet, both ways. *)
Lemma is_derive_small (f : R -> R) (l : R) : is_derive f 0 l ->
  forall eps, 0 < eps -> locally 0 (fun t => Rabs (f t - f 0 - l * t) <= eps * Rabs t).
Proof.
move=> [_ D] e He; have := D 0 (fun P H => H) (mkposreal e He).
apply: filter_imp => t /=.
rewrite /norm /= /abs /= /minus /plus /opp /scal /= /mult /= !Ropp_0 !Rplus_0_r.
by have -> : f t + - f 0 + - (t * l) = f t - f 0 - l * t by ring.
Qed.

Lemma is_derive_of_small (f : R -> R) (l : R) :
  (forall eps, 0 < eps -> locally 0 (fun t => Rabs (f t - f 0 - l * t) <= eps * Rabs t)) ->
  is_derive f 0 l.
Proof.
move=> D; split; first by apply: is_linear_scal_l.
move=> x Hx [e He].
have -> : x = 0 by symmetry; apply: (is_filter_lim_locally_unique _ _ Hx).
apply: filter_imp (D e He) => t.
rewrite /norm /= /abs /= /minus /plus /opp /scal /= /mult /= !Ropp_0 !Rplus_0_r.
by have -> : f t + - f 0 + - (t * l) = f t - f 0 - l * t by ring.
Qed.

Lemma filter_forall_ord (T : Type) (F : (T -> Prop) -> Prop) (P : 'I_m -> T -> Prop) :
  Filter F -> (forall i, F (P i)) -> F (fun x => forall i, P i x).
Proof.
move=> FF E.
have H : F (fun x => forall i, i \in enum 'I_m -> P i x).
  elim: (enum 'I_m) => [|j r IH]; first by apply: filter_forall.
  apply: filter_imp (filter_and _ _ (E j) IH) => x [Pj Pr] i.
  by rewrite inE => /orP[/eqP->|/Pr].
by apply: filter_imp H => x Px i; apply: Px; rewrite mem_enum.
Qed.

(* A curve with a velocity stays within K |t| of where it starts. *)
Lemma curve_small (c : R -> vec m) w : (forall i, is_derive (fun t => c t i) 0 (w i)) ->
  exists K, 0 < K /\ locally 0 (fun t => norm (c t - c 0) <= K * Rabs t).
Proof.
move=> Hc; pose K := norm (fun i => Rabs (w i) + 1) + 1; exists K.
split; first by have := norm_ge0 (fun i => Rabs (w i) + 1); rewrite /K; lra.
have := @filter_forall_ord _ _ (fun i t => Rabs (c t i - c 0 i - w i * t) <= 1 * Rabs t)
   (@filter_filter _ _ (locally_filter (0:R_UniformSpace)))
   (fun i => is_derive_small (Hc i) Rlt_0_1).
apply: filter_imp => t E.
apply: Rle_trans (_ : norm (Rabs t *: (fun i => Rabs (w i) + 1)) <= _).
  apply: norm_le => i; have := E i; rewrite /vsub /vscale => Ei.
  have -> : c t i - c 0 i = (c t i - c 0 i - w i * t) + w i * t by ring.
  apply: Rle_trans (Rabs_triang _ _) _; rewrite Rabs_mult; lra.
rewrite norm_vscale Rabs_Rabsolu /K; have := Rabs_pos t; nra.
Qed.

Lemma near_zero delta : 0 < delta -> locally 0 (fun t => Rabs t < delta).
Proof.
move=> Hd; exists (mkposreal _ Hd) => t.
by rewrite /ball /= /AbsRing_ball /abs /minus /plus /opp /= Ropp_0 Rplus_0_r.
Qed.

Lemma vadd_vsub y z : (y + (z - y))%V = z.
Proof. by apply: vec_ext => i; rewrite /vadd /vsub; ring. Qed.

(* What holds near a point holds along every curve that starts there. *)
Lemma near_along (P : vec m -> Prop) delta (c : R -> vec m) w :
  0 < delta -> (forall d, norm d < delta -> P (c 0 + d)%V) ->
  (forall i, is_derive (fun t => c t i) 0 (w i)) -> locally 0 (fun t => P (c t)).
Proof.
move=> Hd HP Hc; have [K [K0 small]] := curve_small Hc.
have near := near_zero (Rdiv_lt_0_compat _ _ Hd K0).
apply: filter_imp (filter_and _ _ small near) => t [St Nt].
rewrite -(vadd_vsub (c 0) (c t)).
apply: HP; apply: Rle_lt_trans St _; have := Rmult_lt_compat_l K _ _ K0 Nt.
by have -> : K * (delta / K) = delta by field; lra.
Qed.
End Curves.

(* ---- the chain rule, gradients and Hessians ---- *)

Section ChainRule.
Variables (m : nat) (F : vec m -> R).

Lemma chain_rule (c : R -> vec m) (g w : vec m) :
  frechet F (c 0) g -> (forall i, is_derive (fun t => c t i) 0 (w i)) ->
  is_derive (fun t => F (c t)) 0 (dot g w).
Proof.
move=> HF Hc.
have [K [K0 small]] := curve_small Hc.
have lin := is_derive_dot_const g Hc.
apply: is_derive_of_small => e He.
have e2 : 0 < e / 2 / K by apply: Rdiv_lt_0_compat => //; lra.
have [delta [Hd HF']] := HF _ e2.
have near := near_zero (Rdiv_lt_0_compat _ _ Hd K0).
have lin' := is_derive_small lin (_ : 0 < e / 2).
apply: filter_imp (filter_and _ _ small (filter_and _ _ near (lin' _))); last by lra.
move=> t [St [Nt Lt]].
have D : norm (c t - c 0) < delta.
  apply: Rle_lt_trans St _; have := Rmult_lt_compat_l K _ _ K0 Nt.
  by have -> : K * (delta / K) = delta by field; lra.
have := HF' _ D; rewrite vadd_vsub dot_vsub_r => E.
have -> : F (c t) - F (c 0) - dot g w * t = (F (c t) - F (c 0) - (dot g (c t) - dot g (c 0)))
  + (dot g (c t) - dot g (c 0) - dot g w * t) by ring.
apply: Rle_trans (Rabs_triang _ _) _.
have : e / 2 / K * norm (c t - c 0) <= e / 2 * Rabs t.
  have := Rmult_le_compat_l _ _ _ (Rlt_le _ _ e2) St.
  by have -> : e / 2 / K * (K * Rabs t) = e / 2 * Rabs t by field; lra.
lra.
Qed.

Lemma frechet_along z g u : frechet F z g -> is_derive (fun t => F (move z u t)) 0 (dot g u).
Proof. by move=> D; apply: chain_rule => [|i]; [rewrite move0|apply: is_derive_move]. Qed.

Lemma frechet_gradient z g : frechet F z g -> gradient F z = g.
Proof.
move=> D; apply: vec_ext => k.
by rewrite /gradient /along (is_derive_unique _ _ _ (frechet_along (basis k) D)) dot_basis.
Qed.

Lemma gradient_near_at z G : gradient_near F z G -> frechet F z (G z).
Proof. by case=> delta [Hd HF]; rewrite -{1 2}(vadd0 z); apply: HF; rewrite norm0. Qed.

Lemma twice_once z : twice_differentiable F z -> differentiable F z.
Proof. by move=> [G [H [near _]]]; exists (G z); apply: gradient_near_at. Qed.

Lemma along_gradient z u : differentiable F z -> along F z u = dot (gradient F z) u.
Proof.
by move=> [g D]; rewrite /along (is_derive_unique _ _ _ (frechet_along u D)) (frechet_gradient D).
Qed.
End ChainRule.

(* The gradient along a curve, and its derivative. *)
Lemma is_derive_gradient_along m (F : vec m -> R) (c : R -> vec m) (w : vec m) G H :
  gradient_near F (c 0) G -> (forall k, frechet (fun x => G x k) (c 0) (H k)) ->
  (forall i, is_derive (fun t => c t i) 0 (w i)) ->
  locally 0 (fun t => gradient F (c t) = G (c t)) /\
  forall k, is_derive (fun t => G (c t) k) 0 (dot (H k) w).
Proof.
move=> [delta [Hd HF]] HG Hc; split.
  exact: (@near_along _ (fun v => gradient F v = G v) delta c w Hd
    (fun d Dd => frechet_gradient (HF d Dd)) Hc).
by move=> k; exact: (@chain_rule _ (fun x => G x k) c (H k) w (HG k) Hc).
Qed.

Section Hessian.
Variables (m : nat) (F : vec m -> R) (z : vec m).

Lemma hessian_along G (H : 'I_m -> vec m) u :
  gradient_near F z G -> (forall k, frechet (fun x => G x k) z (H k)) ->
  hessian F z u = fun k => dot (H k) u.
Proof.
move=> HF HG; apply: vec_ext => k.
have := @is_derive_gradient_along _ F (move z u) u G H.
rewrite move0 => /(_ HF HG (fun i => is_derive_move z u i 0)) [near D].
apply: is_derive_unique; apply: is_derive_ext_loc (D k).
by apply: filter_imp near => t ->.
Qed.

Lemma hessian_add a b : twice_differentiable F z ->
  hessian F z (a + b) = (hessian F z a + hessian F z b)%V.
Proof.
move=> [G [H [HF HG]]]; rewrite !(hessian_along _ HF HG).
by apply: vec_ext => i; rewrite dot_vadd_r.
Qed.

Lemma hessian_scale s a : twice_differentiable F z ->
  hessian F z (s *: a) = (s *: hessian F z a)%V.
Proof.
move=> [G [H [HF HG]]]; rewrite !(hessian_along _ HF HG).
by apply: vec_ext => i; rewrite dot_vscale_r.
Qed.
End Hessian.

(* ---- the Hessian is symmetric (Schwarz), without continuity of the second derivatives ---- *)

Section Schwarz.
Variables (m : nat) (F : vec m -> R) (z : vec m) (G : vec m -> vec m) (H : 'I_m -> vec m).
Hypothesis near : gradient_near F z G.
Hypothesis second : forall k, frechet (fun x => G x k) z (H k).
Let Hop (u : vec m) : vec m := fun k => dot (H k) u.

(* What holds near zero, as a filter. *)
Definition nearby (P : vec m -> Prop) := exists delta, 0 < delta /\ forall d, norm d < delta -> P d.
Lemma nearby_filter : Filter nearby.
Proof.
split.
- by exists 1; split; [lra|].
- move=> P Q [a [Ha A]] [b [Hb B]]; exists (Rmin a b); split; first by apply: Rmin_pos.
  by move=> d Hd; split; [apply: A|apply: B]; have := Rmin_l a b; have := Rmin_r a b; lra.
- by move=> P Q PQ [a [Ha A]]; exists a; split=> // d Hd; apply: PQ; apply: A.
Qed.

(* G is differentiable at z, against a fixed vector u. *)
Lemma against (u : vec m) eps : 0 < eps ->
  nearby (fun d => Rabs (dot (G (z + d)%V) u - dot (G z) u - dot (Hop d) u) <= eps * norm d).
Proof.
move=> He; pose K := sum (fun i => Rabs (u i)) + 1.
have K0 : 0 < K.
  have : 0 <= sum (fun i => Rabs (u i)); last by rewrite /K; lra.
  have -> : 0 = sum (fun _ : 'I_m => 0) by rewrite sum_const; ring.
  by apply: sum_le => i; apply: Rabs_pos.
have e' : 0 < eps / K by apply: Rdiv_lt_0_compat.
have := @filter_forall_ord m (vec m) nearby
   (fun k d => Rabs (G (z + d)%V k - G z k - dot (H k) d) <= eps / K * norm d) nearby_filter
   (fun k => second k e').
move=> [delta [Hd E]]; exists delta; split=> // d Dd.
have -> : dot (G (z + d)%V) u - dot (G z) u - dot (Hop d) u
  = sum (fun k => (G (z + d)%V k - G z k - dot (H k) d) * u k).
  rewrite -(dot_vsub_l (G (z + d)%V) (G z) u) -(dot_vsub_l _ (Hop d) u).
  by apply: sum_ext => k; rewrite /vsub /Hop.
apply: Rle_trans (sum_abs _) _.
apply: Rle_trans (_ : sum (fun k => eps / K * norm d * Rabs (u k)) <= _).
  by apply: sum_le => k; rewrite Rabs_mult; apply: Rmult_le_compat_r; [apply: Rabs_pos|apply: E].
rewrite sum_scale.
have N := norm_ge0 d.
have -> : eps * norm d = eps / K * norm d * K by field; lra.
apply: Rmult_le_compat_l; last by rewrite /K; lra.
by apply: Rmult_le_pos => //; lra.
Qed.

Lemma is_derive_on_line (p u : vec m) (s : R) : frechet F (move p u s) (G (move p u s)) ->
  is_derive (fun s => F (move p u s)) s (dot (G (move p u s)) u).
Proof.
move=> D; have A := frechet_along u D.
have A' : is_derive (fun t => F (move (move p u s) u t)) (s - s) (dot (G (move p u s)) u).
  by have -> : s - s = 0 by ring.
have B : is_derive (fun t => t - s) s 1 by auto_derive.
have := is_derive_comp (fun t => F (move (move p u s) u t)) (fun t => t - s) s _ _ A' B.
rewrite /scal /= /mult /= Rmult_1_l; apply: is_derive_ext => t.
by congr F; apply: vec_ext => i; rewrite /move /vadd /vscale; ring.
Qed.

Lemma second_difference (u v : vec m) eps : 0 < eps ->
  exists r, 0 < r /\ forall t, 0 < t < r ->
   Rabs (F (z + (t *: u + t *: v))%V - F (z + t *: u)%V - (F (z + t *: v)%V - F z)
     - t * (t * dot (Hop v) u)) <= t * (t * (eps * (2 * norm u + norm v))).
Proof.
move=> He.
have [d1 [Hd1 E]] := against u He; have [d2 [Hd2 HF]] := near.
pose C := norm u + norm v + 1.
have Nu := norm_ge0 u; have Nv := norm_ge0 v.
have C0 : 0 < C by rewrite /C; lra.
exists (Rmin d1 d2 / C); split; first by apply: Rdiv_lt_0_compat => //; apply: Rmin_pos.
move=> t [t0 tr].
have tC : t * C < Rmin d1 d2.
  by move: tr => /(Rmult_lt_compat_r C _ _ C0); rewrite /Rdiv Rmult_assoc Rinv_l; lra.
have M1 := Rmin_l d1 d2; have M2 := Rmin_r d1 d2.
(* distances *)
have N1 s : 0 <= s <= t -> norm (s *: u) <= t * norm u.
  by move=> Hs; apply: norm_scale_le; rewrite Rabs_pos_eq; lra.
have N2 s : 0 <= s <= t -> norm (s *: u + t *: v) <= t * (norm u + norm v).
  move=> Hs; apply: Rle_trans (triangle _ _) _; have := N1 s Hs.
  have : norm (t *: v) <= t * norm v by apply: norm_scale_le; rewrite Rabs_pos_eq; lra.
  lra.
pose p := (z + t *: v)%V.
have shift s : move p u s = (z + (s *: u + t *: v))%V.
  by apply: vec_ext => i; rewrite /p /move /vadd; ring.
pose phi s := F (move p u s) - F (move z u s).
pose dphi s := dot (G (move p u s)) u - dot (G (move z u s)) u.
have D s : 0 <= s <= t -> is_derive phi s (dphi s).
  move=> Hs; apply: is_derive_minus; apply: is_derive_on_line.
    by rewrite shift; apply: HF; apply: Rle_lt_trans (N2 s Hs) _; rewrite /C in tC; nra.
  by apply: HF; apply: Rle_lt_trans (N1 s Hs) _; rewrite /C in tC; nra.
have := MVT_gen phi 0 t dphi; rewrite /= Rmin_left ?Rmax_right; try lra.
case=> [s Hs|s Hs|xi [Hxi]].
- by apply: D; lra.
- apply: derivable_continuous_pt; exists (dphi s); apply/is_derive_Reals; exact: D.
have -> : phi t - phi 0
  = F (z + (t *: u + t *: v))%V - F (z + t *: u)%V - (F (z + t *: v)%V - F z).
  by rewrite /phi shift !move0 /move.
move=> ->; rewrite /dphi shift.
have E1 := E _ (Rle_lt_trans _ _ _ (N2 xi Hxi) (_ : _ < d1)).
have E2 := E _ (Rle_lt_trans _ _ _ (N1 xi Hxi) (_ : _ < d1)).
have {}E1 := E1 ltac:(rewrite /C in tC; nra).
have {}E2 := E2 ltac:(rewrite /C in tC; nra).
have L : dot (Hop (xi *: u + t *: v)) u = dot (Hop (xi *: u)) u + t * dot (Hop v) u.
  rewrite -dot_vscale_l -dot_vadd_l; apply: dot_ext => // k.
  by rewrite /Hop dot_vadd_r (dot_vscale_r t).
rewrite L in E1.
have e1 : eps * norm (xi *: u + t *: v) <= eps * (t * (norm u + norm v)).
  by apply: Rmult_le_compat_l; [lra|exact: N2].
have e2 : eps * norm (xi *: u) <= eps * (t * norm u) by apply: Rmult_le_compat_l; [lra|exact: N1].
move: E1 E2 e1 e2; rewrite -/(move z u xi).
set a := dot (G (vadd z (vadd _ _))) u; set b := dot (G (move z u xi)) u; set q := dot (G z) u.
set h := dot (Hop (xi *: u)) u; set n := norm (vadd _ _); set n' := norm (xi *: u).
move=> E1 E2 e1 e2.
have -> : (a - b) * (t - 0) - t * (t * dot (Hop v) u)
  = t * ((a - q - (h + t * dot (Hop v) u)) - (b - q - h)) by ring.
rewrite Rabs_mult (Rabs_pos_eq t); last by lra.
apply: Rmult_le_compat_l; first by lra.
apply: Rle_trans (Rabs_triang _ _) _; rewrite Rabs_Ropp; nra.
Qed.

Lemma hessian_form_symmetric (u v : vec m) : dot (Hop v) u = dot (Hop u) v.
Proof.
apply: cond_eq => e He.
pose K := 2 * norm u + norm v + (2 * norm v + norm u) + 1.
have Nu := norm_ge0 u; have Nv := norm_ge0 v.
have K0 : 0 < K by rewrite /K; lra.
have e' : 0 < e / K by apply: Rdiv_lt_0_compat.
have [r1 [R1 A]] := second_difference u v e'; have [r2 [R2 B]] := second_difference v u e'.
pose t := Rmin r1 r2 / 2.
have M := Rmin_pos _ _ R1 R2; have M1 := Rmin_l r1 r2; have M2 := Rmin_r r1 r2.
have t0 : 0 < t by rewrite /t; lra.
have {}A := A t (conj t0 (_ : t < r1)); have {}B := B t (conj t0 (_ : t < r2)).
have {}A := A ltac:(rewrite /t; lra); have {}B := B ltac:(rewrite /t; lra).
move: (t) t0 A B => {}t t0 A B.
have C : (t *: v + t *: u = t *: u + t *: v)%V.
  by apply: vec_ext => i; rewrite /vadd; ring.
rewrite C in B; move: A B.
set a := F (vadd z (vadd _ _)); set b := F (z + t *: u)%V; set c := F (z + t *: v)%V.
set x := dot (Hop v) u; set y := dot (Hop u) v => A B.
have : t * (t * Rabs (x - y)) <= t * (t * (e / K * (2 * norm u + norm v + (2 * norm v + norm u)))).
  have -> : t * (t * Rabs (x - y)) = Rabs (t * (t * x) - t * (t * y)).
    have -> : t * (t * x) - t * (t * y) = t * (t * (x - y)) by ring.
    by rewrite !Rabs_mult (Rabs_pos_eq t) //; lra.
  have -> : t * (t * x) - t * (t * y)
    = (a - c - (b - F z) - t * (t * y)) - (a - b - (c - F z) - t * (t * x)) by ring.
  apply: Rle_trans (Rabs_triang _ _) _; rewrite Rabs_Ropp; lra.
move=> /(Rmult_le_reg_l _ _ _ t0) /(Rmult_le_reg_l _ _ _ t0) Q.
apply: Rle_lt_trans Q _.
have -> : e / K * (2 * norm u + norm v + (2 * norm v + norm u)) = e / K * K - e / K.
  by rewrite /K; ring.
have -> : e / K * K = e by field; lra.
by lra.
Qed.
End Schwarz.

Theorem hessian_symmetric m (F : vec m -> R) z (a b : vec m) : twice_differentiable F z ->
  dot a (hessian F z b) = dot (hessian F z a) b.
Proof.
move=> [G [H [near second]]].
rewrite !(hessian_along _ near second) dot_comm.
exact: (hessian_form_symmetric near second a b).
Qed.

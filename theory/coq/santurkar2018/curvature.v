(* "The Hessian is positive semi-definite" for piecewise-linear layers and a convex loss: wherever
   what follows the layer has a second derivative, also where several of its pieces meet.

   A piecewise-linear function is affine on the first stretch of every ray, and that is all that is
   asked of what follows. *)
From Coq Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From mathcomp Require Import ssreflect ssrbool ssrfun eqtype ssrnat seq fintype bigop.
From BatchNorm Require Import Vectors Calculus.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

Definition convex k (l : vec k -> R) : Prop :=
  forall a b s, 0 <= s <= 1 -> l (a + s *: (b - a))%V <= l a + s * (l b - l a).

Definition affine_on_rays m k (f : vec m -> vec k) (z : vec m) : Prop :=
  forall u, exists r, 0 < r /\ forall s, 0 <= s <= 1 ->
    f (move z u (s * r)) = (f z + s *: (f (move z u r) - f z))%V.

(* What holds near 0 holds of a small positive number. *)
Lemma small_positive (P : R -> Prop) r : 0 < r -> locally 0 P -> exists t, 0 < t <= r /\ P t.
Proof.
move=> r0 [d near]; have d0 := cond_pos d; exists (Rmin r (d / 2)).
have t0 : 0 < Rmin r (d / 2) by apply: Rmin_glb_lt; lra.
have [tr td] : Rmin r (d / 2) <= r /\ Rmin r (d / 2) <= d / 2.
  by split; [exact: Rmin_l|exact: Rmin_r].
split; first by lra.
apply: near; rewrite /ball /= /AbsRing_ball /abs /minus /plus /opp /= Ropp_0 Rplus_0_r.
by rewrite Rabs_pos_eq; lra.
Qed.

Section Segment.
Variables (m : nat) (F : vec m -> R).

(* The slope at the beginning of a segment on which F lies below its chord. *)
Lemma slope_at_most (x d g : vec m) c : frechet F x g ->
  (forall s, 0 <= s <= 1 -> F (move x d s) <= F x + s * c) -> dot g d <= c.
Proof.
move=> D below; apply: Rnot_lt_le => lt.
have e0 : 0 < (dot g d - c) / 2 by lra.
have [t [Ht]] := small_positive Rlt_0_1 (is_derive_small (frechet_along d D) e0).
rewrite move0 (Rabs_pos_eq t); last by lra.
have := below t (ltac:(lra)) => B /Rabs_le_between [A _]; nra.
Qed.
End Segment.

Section Curvature.
Variables (m k : nat) (f : vec m -> vec k) (l : vec k -> R) (z u : vec m).
Let F x := l (f x).
Hypotheses (loss : convex l) (rays : affine_on_rays f z).

Lemma below_chord : exists r, 0 < r /\ forall t s, 0 <= t <= r -> 0 <= s <= 1 ->
  F (move z u (s * t)) <= F z + s * (F (move z u t) - F z).
Proof.
have [r [r0 affine]] := rays u; exists r; split=> // t s Ht Hs.
have part q : 0 <= q <= t -> f (move z u q) = (f z + (q / r) *: (f (move z u r) - f z))%V.
  move=> Hq; rewrite -affine; last by split; [apply: Rdiv_le_0_compat|apply/Rle_div_l]; lra.
  by congr (f (move z u _)); field; lra.
have st : 0 <= s * t <= t by nra.
suff -> : F (move z u (s * t)) = l (f z + s *: (f (move z u t) - f z))%V by exact: loss.
rewrite /F (part (s * t)) // (part t); last by lra.
by congr l; apply: vec_ext => i; rewrite /vadd /vsub /vscale; field; lra.
Qed.
End Curvature.

Theorem hessian_of_piecewise_linear (m k : nat) (f : vec m -> vec k) (l : vec k -> R)
    (z u : vec m) :
  convex l -> affine_on_rays f z -> let L := fun x => l (f x) in
  twice_differentiable L z -> 0 <= dot u (hessian L z u).
Proof.
move=> loss rays L D; have [r [r0 chord]] := below_chord u loss rays.
have [G [H [near HG]]] := D; have [delta [Hd HF]] := near.
rewrite (hessian_along u near HG).
set psi := fun t => dot (G (move z u t)) u.
have Dpsi : is_derive psi 0 (dot u (fun i => dot (H i) u)).
  rewrite dot_comm; apply: (@is_derive_ext _ _ (fun t => dot u (G (move z u t)))) => [t|].
    exact: dot_comm.
  rewrite dot_comm; apply: is_derive_dot_const => i.
  by apply: (frechet_along u (HG i)).
have small : locally 0 (fun t => frechet L (move z u t) (G (move z u t))).
  apply: (@near_along _ (fun v => frechet L v (G v)) delta (move z u) u) => // [d Hn|i].
    by rewrite move0; apply: HF.
  exact: is_derive_move.
have Lz : frechet L z (G z) := gradient_near_at near.
have grows : locally 0 (fun t => 0 < t -> t < r -> psi 0 <= psi t).
  apply: filter_imp small => t Lt t0 tr; rewrite /psi move0.
  have shift s d : move (move z u t) (d *: u)%V s = move z u (t + s * d).
    by apply: vec_ext => i; rewrite /move /vadd /vscale; ring.
  have shift0 s d : move z (d *: u)%V s = move z u (s * d).
    by apply: vec_ext => i; rewrite /move /vadd /vscale; ring.
  have up : dot (G z) (t *: u)%V <= L (move z u t) - L z.
    by apply: slope_at_most Lz _ => s Hs; rewrite shift0; apply: chord => //; lra.
  have down : dot (G (move z u t)) ((- t) *: u)%V <= L z - L (move z u t).
    apply: slope_at_most Lt _ => s Hs; rewrite shift.
    have -> : t + s * - t = (1 - s) * t by ring.
    have := chord t (1 - s) (conj (Rlt_le _ _ t0) (Rlt_le _ _ tr)); rewrite /L.
    by move=> /(_ _) C; have := C (ltac:(lra)); lra.
  by move: up down; rewrite !dot_vscale_r; nra.
apply: Rnot_lt_le => neg.
set h := dot u _ in Dpsi neg; have e0 : 0 < - h / 2 by lra.
have r2 : 0 < r / 2 by lra.
have [t [Ht [up]]] := small_positive r2 (filter_and _ _ grows (is_derive_small Dpsi e0)).
rewrite (Rabs_pos_eq t); last by lra.
move=> /Rabs_le_between [_ B]; have := up (ltac:(lra)) (ltac:(lra)); nra.
Qed.

(* Closed instances: small batches, and losses whose derivatives are known.

   A statement is refuted by an instance that meets its hypotheses and violates its conclusion.

     vector2 a b, vector4 a b c d   a batch written out
     quadratic a h z                the loss <a, z> + h/2 |z|^2; linear for h = 0 *)

From Coq Require Import Reals Lra.
From mathcomp Require Import ssreflect ssrbool ssrfun eqtype ssrnat seq fintype bigop.
From BatchNorm Require Import Vectors Calculus Layer.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

Definition vector2 (a b : R) : vec 2 := fun i => match val i with O => a | _ => b end.
Definition vector4 (a b c d : R) : vec 4 :=
  fun i => match val i with O => a | 1%N => b | 2%N => c | _ => d end.
Definition quadratic m (a : vec m) (h : R) (z : vec m) : R := dot a z + h / 2 * norm2 z.

Lemma dot_vector2 a b a' b' : dot (vector2 a b) (vector2 a' b') = a * a' + b * b'.
Proof. by rewrite /dot /sum !big_ord_recl big_ord0 /= Rplus_0_r. Qed.
Lemma dot_vector4 a b c d a' b' c' d' :
  dot (vector4 a b c d) (vector4 a' b' c' d') = a * a' + b * b' + c * c' + d * d'.
Proof. by rewrite /dot /sum !big_ord_recl big_ord0 /vector4 /= /bump /=; ring. Qed.

Lemma one_vector2 : one = vector2 1 1.
Proof. by apply: vec_ext => -[[|[|[]]] H]. Qed.
Lemma one_vector4 : one = vector4 1 1 1 1.
Proof. by apply: vec_ext => -[[|[|[|[|[]]]]] H]. Qed.
Lemma vadd_vector4 a b c d a' b' c' d' :
  (vector4 a b c d + vector4 a' b' c' d' = vector4 (a + a') (b + b') (c + c') (d + d'))%V.
Proof. by apply: vec_ext => -[[|[|[|[|[]]]]] H]. Qed.
Lemma vscale_vector2 s a b : (s *: vector2 a b = vector2 (s * a) (s * b))%V.
Proof. by apply: vec_ext => -[[|[|[]]] H]. Qed.
Lemma vscale_vector4 s a b c d :
  (s *: vector4 a b c d = vector4 (s * a) (s * b) (s * c) (s * d))%V.
Proof. by apply: vec_ext => -[[|[|[|[|[]]]]] H]. Qed.

(* ---- quadratic losses ---- *)

Section Quadratic.
Variables (m : nat) (a : vec m) (h : R).

Lemma frechet_quadratic z : frechet (quadratic a h) z (a + h *: z).
Proof.
move=> eps He; pose K := Rabs (h / 2) + 1.
have K0 : 0 < K by have := Rabs_pos (h / 2); rewrite /K; lra.
exists (eps / K); split; first by apply: Rdiv_lt_0_compat.
move=> d Dd; have N := norm_ge0 d.
have -> : quadratic a h (z + d) - quadratic a h z - dot (a + h *: z) d = h / 2 * (norm d * norm d).
  rewrite norm_sq /quadratic !(dot_vadd_l, dot_vadd_r, dot_vscale_l) (dot_comm d z); field.
rewrite Rabs_mult (Rabs_pos_eq (norm d * norm d)); last by apply: Rmult_le_pos.
have : norm d * K <= eps.
  by have := Rmult_lt_compat_r _ _ _ K0 Dd; rewrite /Rdiv Rmult_assoc Rinv_l; lra.
have := Rabs_pos (h / 2); rewrite /K => P Q.
have := Rmult_le_compat_r _ _ _ N Q; nra.
Qed.

Lemma gradient_quadratic z : gradient (quadratic a h) z = (a + h *: z)%V.
Proof. exact: frechet_gradient (frechet_quadratic z). Qed.

Lemma frechet_affine (k : 'I_m) z : frechet (fun x => (a + h *: x)%V k) z (h *: basis k).
Proof.
move=> eps He; exists 1; split; first by lra.
move=> d _; rewrite dot_vscale_l dot_comm dot_basis /vadd /vscale.
have -> : a k + h * (z k + d k) - (a k + h * z k) - h * d k = 0 by ring.
by rewrite Rabs_R0; apply: Rmult_le_pos; [lra|exact: norm_ge0].
Qed.

Lemma gradient_near_quadratic z : gradient_near (quadratic a h) z (fun x => (a + h *: x)%V).
Proof. by exists 1; split; [lra|move=> d _; exact: frechet_quadratic]. Qed.

Lemma twice_quadratic z : twice_differentiable (quadratic a h) z.
Proof.
exists (fun x => (a + h *: x)%V), (fun k => (h *: basis k)%V).
by split; [exact: gradient_near_quadratic|move=> k; exact: frechet_affine].
Qed.

Lemma hessian_quadratic z u : hessian (quadratic a h) z u = (h *: u)%V.
Proof.
rewrite (hessian_along u (gradient_near_quadratic z) (fun k => frechet_affine k z)).
by apply: vec_ext => k; rewrite dot_vscale_l dot_comm dot_basis.
Qed.
End Quadratic.

(* ---- batches of mean 0 and variance 1 are what the layer makes of them ---- *)

Section Standardized.
Variables (m : nat) (y : vec m).
Hypotheses (m_pos : 0 < INR m) (mean0 : dot one y = 0) (variance1 : norm2 y = INR m).

Lemma mean_standardized : mean y = 0.
Proof. by rewrite mean_dot mean0 /Rdiv Rmult_0_l. Qed.
Lemma centre_standardized : centre y = y.
Proof. by apply: vec_ext => i; rewrite /centre /vsub /vscale mean_standardized; ring. Qed.
Lemma variance_standardized : variance y = 1.
Proof. by rewrite variance_dot centre_standardized variance1; field; lra. Qed.
Lemma deviation_standardized : deviation 0 y = 1.
Proof. by rewrite /deviation variance_standardized Rplus_0_r sqrt_1. Qed.
Lemma normalize_standardized : normalize 0 y = y.
Proof.
rewrite normalize_centre centre_standardized deviation_standardized.
by apply: vec_ext => i; rewrite /vscale; field.
Qed.
End Standardized.

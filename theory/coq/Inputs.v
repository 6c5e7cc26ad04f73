(* The inputs of a layer, and maxima over all inputs of bounded norm.

   X is a list of m examples of d numbers, one row an example; a unit with weights w has the batch
   y = X w.  The loss's gradient in w is X'h, h the gradient in y, and its second derivatives are
   X'AX, A those in y.

     outputs X w              X w                back X a        X' a
     spectral_at_most X s     |X w| <= s |w| for every w
     is_maximum S a           a is in the set S and no element of it is larger *)

From Coq Require Import Reals Lra Psatz.
From Coquelicot Require Import Coquelicot.
From mathcomp Require Import ssreflect ssrbool ssrfun eqtype ssrnat seq fintype bigop.
From BatchNorm Require Import Vectors Calculus.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.
Local Notation norm := Vectors.norm.

Definition inputs (m d : nat) := 'I_m -> vec d.
Definition outputs m d (X : inputs m d) (w : vec d) : vec m := fun i => dot (X i) w.
Definition back m d (X : inputs m d) (a : vec m) : vec d := fun j => sum (fun i => X i j * a i).
Definition spectral_at_most m d (X : inputs m d) (s : R) : Prop :=
  forall w, norm (outputs X w) <= s * norm w.
Definition is_maximum (S : R -> Prop) (a : R) : Prop := S a /\ forall b, S b -> b <= a.

Section Inputs.
Variables (m d : nat) (X : inputs m d).

Lemma outputs_add v w : outputs X (v + w) = (outputs X v + outputs X w)%V.
Proof. by apply: vec_ext => i; rewrite /outputs dot_vadd_r. Qed.
Lemma outputs_scale s w : outputs X (s *: w) = (s *: outputs X w)%V.
Proof. by apply: vec_ext => i; rewrite /outputs dot_vscale_r. Qed.
Lemma back_scale s a : back X (s *: a) = (s *: back X a)%V.
Proof.
by apply: vec_ext => j; rewrite /back /vscale -sum_scale; apply: sum_ext => i; ring.
Qed.

Lemma exchange w a : dot (outputs X w) a = dot w (back X a).
Proof.
rewrite /dot /outputs /back /dot /sum.
transitivity (\big[Rplus/0]_(i < m) \big[Rplus/0]_(j < d) (X i j * w j * a i)).
  by apply: eq_bigr => i _; rewrite Rmult_comm -/(sum _) -sum_scale; apply: sum_ext => j; ring.
rewrite exchange_big /=; apply: eq_bigr => j _.
by rewrite -/(sum _) -sum_scale; apply: sum_ext => i; ring.
Qed.

(* The gradient in the weights is X' times the gradient in the outputs. *)
Lemma gradient_in_weights (F : vec m -> R) w : differentiable F (outputs X w) ->
  gradient (fun v => F (outputs X v)) w = back X (gradient F (outputs X w)).
Proof.
move=> [g D]; rewrite (frechet_gradient D); apply: vec_ext => k.
have C i : is_derive (fun t => outputs X (move w (basis k) t) i) 0 (outputs X (basis k) i).
  apply: (is_derive_ext (fun t => move (outputs X w) (outputs X (basis k)) t i)) => [t|].
    by rewrite /move outputs_add outputs_scale.
  exact: is_derive_move.
have H := @chain_rule _ F (fun t => outputs X (move w (basis k) t)) g _ _ C.
rewrite /gradient /along (is_derive_unique _ _ _ (H _)); last by rewrite move0.
by rewrite dot_comm exchange dot_comm dot_basis.
Qed.

Variable s : R.
Hypothesis bounded : spectral_at_most X s.

(* |X' a| <= s |a| too. *)
Lemma back_bounded a : 0 <= s -> norm2 (back X a) <= s ^ 2 * norm2 a.
Proof.
move=> s0; have := cauchy_schwarz (outputs X (back X a)) a; rewrite exchange.
set q := norm2 (back X a).
have Q : norm2 (outputs X (back X a)) <= s ^ 2 * q.
  have := bounded (back X a); rewrite /q -!norm_sq => B.
  have := norm_ge0 (outputs X (back X a)); have := norm_ge0 (back X a) => P1 P2.
  have -> : s ^ 2 * (norm (back X a) * norm (back X a))
    = (s * norm (back X a)) * (s * norm (back X a)) by ring.
  by apply: Rmult_le_compat.
have := dot_pos a; have : 0 <= q by apply: dot_pos.
case: (Req_dec q 0) => [-> _ A _|N q0 A C].
  by apply: Rmult_le_pos => //; apply: pow2_ge_0.
apply: (Rmult_le_reg_l q); first by lra.
by apply: Rle_trans (_ : s ^ 2 * q * norm2 a <= _); nra.
Qed.
End Inputs.

(* One input for each example. *)
Section Column.
Variables (m : nat) (x : vec m).
Definition column : inputs m 1 := fun i _ => x i.

Lemma norm2_vec1 (w : vec 1) : norm2 w = w ord0 ^ 2.
Proof. by rewrite /dot /sum !big_ord_recl big_ord0 /=; ring. Qed.
Lemma outputs_column w : outputs column w = (w ord0 *: x)%V.
Proof.
apply: vec_ext => i; rewrite /outputs /column /dot /sum !big_ord_recl big_ord0 /vscale /=; ring.
Qed.
Lemma outputs_back_column a : outputs column (back column a) = (dot x a *: x)%V.
Proof. by rewrite outputs_column. Qed.
Lemma column_bounded s : 0 <= s -> norm2 x <= s ^ 2 -> spectral_at_most column s.
Proof.
move=> s0 S w; rewrite outputs_column norm_vscale [norm w]/Vectors.norm norm2_vec1.
rewrite -(Rsqr_pow2 (w ord0)) sqrt_Rsqr_abs Rmult_comm.
apply: Rmult_le_compat_r; first exact: Rabs_pos.
by rewrite -(sqrt_pow2 s) //; apply: sqrt_le_1_alt.
Qed.
End Column.

(* The maximum of |X'a|^2 over the inputs of norm at most s is s^2 |a|^2, whatever d >= 1. *)
Section Maximum.
Variables (m d : nat) (a : vec m) (s : R).
Hypotheses (d_pos : (0 < d)%coq_nat) (s_pos : 0 <= s).

(* s a e_1' / |a| *)
Definition rank_one : inputs m d :=
  fun i j => if val j == 0%N then s * a i / norm a else 0.

Let first : 'I_d := Ordinal (introT ltP d_pos).

Lemma outputs_rank_one w : outputs rank_one w = ((s * w first / norm a) *: a)%V.
Proof.
apply: vec_ext => i; rewrite /outputs /rank_one /dot /sum (bigD1 first) //= big1 => [|j].
  by rewrite /vscale /Rdiv; ring.
by rewrite -val_eqE /= => /negPf ->; rewrite Rmult_0_l.
Qed.

Lemma entry_le_norm (w : vec d) k : Rabs (w k) <= norm w.
Proof.
have := cauchy_schwarz w (basis k); rewrite !dot_basis {1}/basis eqxx Rmult_1_r => C.
by rewrite -sqrt_Rsqr_abs; apply: sqrt_le_1_alt; rewrite /Rsqr; lra.
Qed.

Lemma rank_one_bounded : spectral_at_most rank_one s.
Proof.
move=> w; rewrite outputs_rank_one norm_vscale /Rdiv !Rabs_mult (Rabs_pos_eq s) //.
have W := entry_le_norm w first; have N := norm_ge0 a; have Nw := norm_ge0 w.
case: (Req_dec (norm a) 0) => [->|N0]; first by rewrite Rmult_0_r; apply: Rmult_le_pos.
rewrite Rabs_inv (Rabs_pos_eq (norm a)) // Rmult_assoc Rinv_l // Rmult_1_r.
exact: Rmult_le_compat_l.
Qed.

Lemma back_rank_one : norm2 (back rank_one a) = s ^ 2 * norm2 a.
Proof.
rewrite -exchange outputs_rank_one dot_vscale_l.
have -> : back rank_one a first = s / norm a * norm2 a.
  by rewrite /back /rank_one /= -sum_scale; apply: sum_ext => i; rewrite /Rdiv; ring.
case: (Req_dec (norm a) 0) => [Z|N]; last by rewrite -norm_sq; field.
by rewrite -norm_sq Z; ring.
Qed.

Lemma largest_back :
  is_maximum (fun q => exists X : inputs m d, spectral_at_most X s /\ q = norm2 (back X a))
             (s ^ 2 * norm2 a).
Proof.
split; first by exists rank_one; split; [exact: rank_one_bounded|rewrite back_rank_one].
by move=> q [X [B ->]]; apply: back_bounded.
Qed.
End Maximum.

Theorem largest_gradient (m d : nat) (a : vec m) (s : R) : (0 < d)%coq_nat -> 0 <= s ->
  is_maximum (fun q => exists X : inputs m d, spectral_at_most X s /\ q = norm2 (back X a))
             (s ^ 2 * norm2 a).
Proof. exact: largest_back. Qed.

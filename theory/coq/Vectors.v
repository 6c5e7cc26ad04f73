(* Vectors of length m with real entries, their sums and inner products.

   A vector is a function of its index, an element of 'I_m = {0, ..., m - 1}.  In scope %V,
   a + b, a - b and s *: a act entry by entry; s is a real number.

     sum a    a_0 + ... + a_(m-1)           dot a b    the inner product
     norm2 a  dot a a                       norm a     the Euclidean norm
     one      (1, ..., 1)                   basis k    1 at k, 0 elsewhere
     INR m    the length, as a real number *)

From Coq Require Import Reals Lra Psatz FunctionalExtensionality.
From mathcomp Require Import ssreflect ssrbool ssrfun eqtype ssrnat seq fintype bigop.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Open Scope R_scope.

(* ---- what statements speak of ---- *)

Definition vec (m : nat) : Type := 'I_m -> R.

Declare Scope vector_scope.
Delimit Scope vector_scope with V.
Bind Scope vector_scope with vec.

Section Definitions.
Variable m : nat.
Implicit Types a b : vec m.

Definition sum a : R := \big[Rplus/0]_(i < m) a i.
Definition dot a b : R := sum (fun i => a i * b i).
Definition norm a : R := sqrt (dot a a).

Definition one : vec m := fun _ => 1.
Definition basis (k : 'I_m) : vec m := fun i => if i == k then 1 else 0.
Definition vadd a b : vec m := fun i => a i + b i.
Definition vsub a b : vec m := fun i => a i - b i.
Definition vscale (s : R) a : vec m := fun i => s * a i.
End Definitions.

Arguments one {m}.
Notation norm2 a := (dot a a).
Notation "a + b" := (vadd a b) : vector_scope.
Notation "a - b" := (vsub a b) : vector_scope.
Notation "s *: a" := (vscale s a) (at level 40) : vector_scope.

(* ---- sums ---- *)

Lemma RplusA : associative Rplus. Proof. by move=> a b c; rewrite Rplus_assoc. Qed.
Lemma RplusC : commutative Rplus. Proof. by move=> a b; rewrite Rplus_comm. Qed.
Lemma Rplus0l : left_id 0 Rplus. Proof. by move=> a; rewrite Rplus_0_l. Qed.
Canonical Rplus_monoid := Monoid.Law RplusA Rplus0l (fun a => Rplus_0_r a).
Canonical Rplus_comoid := Monoid.ComLaw RplusC.

Section Vectors.
Variable m : nat.
Implicit Types a b c : vec m.

Lemma vec_ext a b : (forall i, a i = b i) -> a = b.
Proof. exact: functional_extensionality. Qed.

Lemma sum_add a b : sum (fun i => a i + b i) = sum a + sum b.
Proof. by rewrite /sum big_split. Qed.

Lemma sum_scale s a : sum (fun i => s * a i) = s * sum a.
Proof.
rewrite /sum; elim: (index_enum _) => [|i r IH]; first by rewrite !big_nil; ring.
by rewrite !big_cons IH /=; ring.
Qed.

Lemma sum_ext a b : (forall i, a i = b i) -> sum a = sum b.
Proof. by move=> E; apply: eq_bigr. Qed.

Lemma sum_le a b : (forall i, a i <= b i) -> sum a <= sum b.
Proof.
move=> E; rewrite /sum; elim: (index_enum _) => [|i r IH]; first by rewrite !big_nil; lra.
by rewrite !big_cons /=; apply: Rplus_le_compat.
Qed.

Lemma sum_abs a : Rabs (sum a) <= sum (fun i => Rabs (a i)).
Proof.
rewrite /sum; elim: (index_enum _) => [|i r IH]; first by rewrite !big_nil Rabs_R0; lra.
rewrite !big_cons /=; apply: Rle_trans (Rabs_triang _ _) _; apply: Rplus_le_compat => //; lra.
Qed.

Lemma sum_const s : sum (fun _ : 'I_m => s) = INR m * s.
Proof.
rewrite /sum big_const_ord; elim: m => [|n IH].
  by rewrite /= Rmult_0_l.
by rewrite iterS IH S_INR; ring.
Qed.

Lemma sum_dot a : sum a = dot one a.
Proof. by apply: sum_ext => i; rewrite /one; ring. Qed.

(* ---- inner products ---- *)

Lemma dot_comm a b : dot a b = dot b a.
Proof. by apply: sum_ext => i; ring. Qed.
Lemma dot_ext a a' b b' : (forall i, a i = a' i) -> (forall i, b i = b' i) -> dot a b = dot a' b'.
Proof. by move=> E F; apply: sum_ext => i; rewrite E F. Qed.
Lemma dot_vadd_l a b c : dot (a + b) c = dot a c + dot b c.
Proof. by rewrite /dot -sum_add; apply: sum_ext => i; rewrite /vadd; ring. Qed.
Lemma dot_vscale_l s a c : dot (s *: a) c = s * dot a c.
Proof. by rewrite /dot -sum_scale; apply: sum_ext => i; rewrite /vscale; ring. Qed.
Lemma vsub_vadd a b : (a - b = a + -1 *: b)%V.
Proof. by apply: vec_ext => i; rewrite /vsub /vadd /vscale; ring. Qed.
Lemma dot_vsub_l a b c : dot (a - b) c = dot a c - dot b c.
Proof. by rewrite vsub_vadd dot_vadd_l dot_vscale_l; ring. Qed.
Lemma dot_vadd_r a b c : dot c (a + b) = dot c a + dot c b.
Proof. by rewrite dot_comm dot_vadd_l !(dot_comm c). Qed.
Lemma dot_vsub_r a b c : dot c (a - b) = dot c a - dot c b.
Proof. by rewrite dot_comm dot_vsub_l !(dot_comm c). Qed.
Lemma dot_vscale_r s a c : dot c (s *: a) = s * dot c a.
Proof. by rewrite dot_comm dot_vscale_l (dot_comm c). Qed.
Lemma dot_zero_l a : dot (fun _ => 0) a = 0.
Proof. by rewrite /dot (@sum_ext _ (fun _ => 0)) ?sum_const; intros; ring. Qed.
Lemma dot_one_one : norm2 (one : vec m) = INR m.
Proof. by rewrite -sum_dot sum_const Rmult_1_r. Qed.

Lemma dot_pos a : 0 <= dot a a.
Proof.
have -> : 0 = sum (fun _ : 'I_m => 0) by rewrite sum_const; ring.
by apply: sum_le => i; apply: Rle_0_sqr.
Qed.

Lemma dot_basis a k : dot a (basis k) = a k.
Proof.
rewrite /dot /sum (bigD1 k) //= big1 => [|i Hi]; rewrite /basis.
  by rewrite eqxx; ring.
by rewrite (negPf Hi); ring.
Qed.

(* Two vectors with the same inner products are one. *)
Lemma vec_eq a b : (forall w, dot w a = dot w b) -> a = b.
Proof.
by move=> E; apply: vec_ext => k; have := E (basis k); rewrite !(dot_comm (basis k)) !dot_basis.
Qed.

Lemma cauchy_schwarz a b : (dot a b)^2 <= norm2 a * norm2 b.
Proof.
have P t : 0 <= norm2 a - 2 * t * dot a b + t^2 * norm2 b.
  have := dot_pos (a - t *: b).
  by rewrite !dot_vsub_l !dot_vsub_r !dot_vscale_l !dot_vscale_r (dot_comm b a); lra.
have A := dot_pos a; have B := dot_pos b.
case: (Req_dec (dot b b) 0) => [Z|NZ].
  case: (Req_dec (dot a b) 0) => [->|N]; first by nra.
  have := P ((norm2 a + 1) / (2 * dot a b)); rewrite Z.
  have -> : 2 * ((norm2 a + 1) / (2 * dot a b)) * dot a b = norm2 a + 1 by field.
  lra.
have := P (dot a b / norm2 b).
have -> : norm2 a - 2 * (dot a b / norm2 b) * dot a b + (dot a b / norm2 b)^2 * norm2 b
  = (norm2 a * norm2 b - (dot a b)^2) / norm2 b by field.
move=> Q; have := Rmult_le_pos _ _ Q B.
by rewrite /Rdiv Rmult_assoc Rinv_l //; lra.
Qed.

(* ---- norms ---- *)

Lemma norm_ge0 a : 0 <= norm a. Proof. exact: sqrt_pos. Qed.
Lemma norm_sq a : norm a * norm a = dot a a.
Proof. by rewrite sqrt_sqrt //; apply: dot_pos. Qed.

Lemma norm_vscale s a : norm (s *: a) = Rabs s * norm a.
Proof.
rewrite /norm dot_vscale_l dot_vscale_r -Rmult_assoc.
rewrite sqrt_mult; [|by apply: Rle_0_sqr|exact: dot_pos].
by rewrite -/(Rsqr s) sqrt_Rsqr_abs.
Qed.

Lemma norm_scale_le s r a : Rabs s <= r -> norm (s *: a) <= r * norm a.
Proof. by move=> E; rewrite norm_vscale; apply: Rmult_le_compat_r => //; apply: norm_ge0. Qed.

Lemma norm_le a b : (forall i, Rabs (a i) <= b i) -> norm a <= norm b.
Proof.
move=> E; apply: sqrt_le_1_alt; apply: sum_le => i; have := E i.
rewrite -!/(Rsqr _) (Rsqr_abs (a i)) => H; apply: Rsqr_incr_1 => //; have := Rabs_pos (a i); lra.
Qed.

Lemma triangle a b : norm (a + b) <= norm a + norm b.
Proof.
have A := norm_ge0 a; have B := norm_ge0 b.
apply: Rsqr_incr_0_var; last by lra.
rewrite /norm in A B *; rewrite Rsqr_sqrt; last exact: dot_pos.
have C := cauchy_schwarz a b.
have SA := sqrt_sqrt _ (dot_pos a); have SB := sqrt_sqrt _ (dot_pos b).
have D : dot a b <= sqrt (norm2 a) * sqrt (norm2 b).
  rewrite -sqrt_mult; [|exact: dot_pos|exact: dot_pos].
  apply: Rle_trans (Rle_abs _) _; rewrite -sqrt_Rsqr_abs.
  by apply: sqrt_le_1_alt; rewrite /Rsqr; lra.
rewrite !dot_vadd_l !dot_vadd_r (dot_comm b a) /Rsqr; nra.
Qed.
End Vectors.

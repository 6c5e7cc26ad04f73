(* The proof of Proposition 10: how many places of a map a window leaves out, unless both r and s
   are less than (k - 1)/2. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp Require Import zify.
From BatchNorm Require Import Convolution.
From BatchNorm.lange2022 Require Import proposition_10.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* A row u of n, or a column, is met: t - (k-1)/2 <= u <= n + t - (k-1)/2 - 1, in the text's
   numbers, which count from 1. *)
Definition met n k (t : 'I_k) (x : 'I_n) : bool :=
  let u := x.+1%:Z in let t := t.+1%:Z in
  t - (half k)%:Z <= u <= n%:Z + t - (half k)%:Z - 1.

Definition places_left_out r s k (t a : 'I_k) : {set 'I_r * 'I_s} :=
  [set p | ~~ (met t p.1 && met a p.2)].

Lemma metE n k (t : 'I_k) (x : 'I_n) : met t x = kept t x.
Proof. by rewrite /met /kept; apply/idP/idP; lia. Qed.

Theorem counted (R : rcfType) r s k (t a : 'I_k) : (0 < r)%N -> (0 < s)%N ->
  #|places_left_out r s t a|%:R = part_left_out R r s t a * r%:R * s%:R.
Proof.
move=> r0 s0; rewrite -mulrA -natrM -left_out_count // pair_bigA -sum1_card natr_sum.
rewrite [LHS]big_mkcond /=.
by apply: eq_bigr => p _; rewrite inE !metE; case: (_ && _).
Qed.

Theorem counted_corrected (R : rcfType) r s k (t a : 'I_k) :
  (0 < r)%N -> (0 < s)%N -> odd k -> (half k <= maxn r s)%N ->
  #|places_left_out r s t a|%:R <=
  (k%:R - 1) / 2 * (r%:R + s%:R) - (k%:R - 1) ^+ 2 / 4 :> R.
Proof.
move=> r0 s0 ok large.
rewrite counted // -mulrA -natrM.
have rs0 : 0 < (r * s)%:R :> R by rewrite ltr0n muln_gt0 r0.
apply: le_trans (_ : (k%:R - 1) * (1 / (2 * r%:R) + 1 / (2 * s%:R) -
    (k%:R - 1) / (4 * r%:R * s%:R)) * (r * s)%:R <= _).
  by rewrite ler_wpmul2r ?(ltW rs0) //; apply: (theta_le_printed _ t a (ltn0Sn 0)).
rewrite le_eqVlt natrM; apply/orP; left; apply/eqP; field.
by rewrite !pnatr_eq0 -!lt0n r0 s0.
Qed.

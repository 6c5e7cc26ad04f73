(* The expectation of a random number, by what makes it one: linear, monotone, and of a constant the
   constant.  So are the integral by any probability measure, on the functions that have a finite
   one, and the weighted mean over finitely many outcomes, which is here as an instance.

     random numbers    functions of the outcome, T -> R
     integrable E f    f has an expectation that is a number
     E f               it *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Record expectation (R : rcfType) (T : Type) := Expectation {
  expected :> (T -> R) -> R;
  integrable : (T -> R) -> Prop;
  integrable_same : forall f g, f =1 g -> integrable f -> integrable g;
  integrable_constant : forall c, integrable (fun _ => c);
  integrable_sum : forall f g, integrable f -> integrable g -> integrable (fun w => f w + g w);
  integrable_multiple : forall c f, integrable f -> integrable (fun w => c * f w);
  of_constant : forall c, expected (fun _ => c) = c;
  of_sum : forall f g, integrable f -> integrable g ->
    expected (fun w => f w + g w) = expected f + expected g;
  of_multiple : forall c f, integrable f -> expected (fun w => c * f w) = c * expected f;
  monotone : forall f g, integrable f -> integrable g ->
    (forall w, f w <= g w) -> expected f <= expected g
}.

(* Finitely many outcomes, each with a weight. *)
Section Finite.
Variables (R : rcfType) (T : finType) (p : T -> R).
Hypotheses (p_ge0 : forall w, 0 <= p w) (p_sum : \sum_w p w = 1).

Definition weighted : expectation R T.
Proof.
apply: (@Expectation R T (fun f => \sum_w p w * f w) (fun _ => True)) => //.
- by move=> c; rewrite -mulr_suml p_sum mul1r.
- by move=> f g _ _; rewrite -big_split; apply: eq_bigr => w _; rewrite mulrDr.
- by move=> c f _; rewrite mulr_sumr; apply: eq_bigr => w _; rewrite mulrCA.
- by move=> f g _ _ fg; apply: ler_sum => w _; rewrite ler_wpmul2l.
Defined.
End Finite.

Section Theory.
Variables (R : rcfType) (T : Type) (E : expectation R T).
Implicit Types (f g : T -> R) (c : R).
Local Notation integrable := (integrable E).

Lemma of_same f g : f =1 g -> integrable f -> E f = E g.
Proof.
move=> fg If; have Ig := integrable_same fg If.
by apply/le_anti; rewrite !monotone // => w; rewrite fg.
Qed.

Lemma at_most f c : integrable f -> (forall w, f w <= c) -> E f <= c.
Proof. by move=> If le; rewrite -(of_constant E c) monotone //; apply: integrable_constant. Qed.

Lemma integrable_sums (I : finType) (F : I -> T -> R) :
  (forall i, integrable (F i)) -> integrable (fun w => \sum_i F i w).
Proof.
move=> IF; elim: (index_enum I) => [|i r IH].
  by apply: integrable_same (integrable_constant E 0) => w; rewrite big_nil.
by apply: integrable_same (integrable_sum (IF i) IH) => w; rewrite big_cons.
Qed.

Lemma of_sums (I : finType) (F : I -> T -> R) :
  (forall i, integrable (F i)) -> E (fun w => \sum_i F i w) = \sum_i E (F i).
Proof.
move=> IF; suff both (r : seq I) : integrable (fun w => \sum_(i <- r) F i w) /\
    E (fun w => \sum_(i <- r) F i w) = \sum_(i <- r) E (F i) by case: (both (index_enum I)).
elim: r => [|i r [Ir Er]].
  have I0 := integrable_constant E 0; have same w : 0 = \sum_(i <- [::]) F i w by rewrite big_nil.
  by split; [apply: integrable_same I0|rewrite -(of_same same I0) of_constant big_nil].
have Ii := integrable_sum (IF i) Ir.
have same w : F i w + \sum_(j <- r) F j w = \sum_(j <- i :: r) F j w by rewrite big_cons.
by split; [apply: integrable_same Ii|rewrite -(of_same same Ii) of_sum // Er big_cons].
Qed.

(* Jensen's inequality for the root: what is at most c + sqrt V has an expectation of at most
   c + sqrt (E V). *)
Lemma at_most_root f V c : integrable f -> integrable V ->
  (forall w, 0 <= V w /\ f w <= c + Num.sqrt (V w)) -> E f <= c + Num.sqrt (E V).
Proof.
move=> If IV le; have IVZ a := integrable_multiple (2 * a)^-1 IV.
have EV : 0 <= E V.
  rewrite -(of_constant E 0); apply: monotone => [||w]; [exact: integrable_constant|by []|].
  by case: (le w).
have below a : 0 < a -> E f <= c + (E V + a ^+ 2) / (2 * a).
  move=> a0; have aa : 0 < 2 * a by rewrite mulr_gt0 ?ltr0n.
  have Ic := integrable_constant E (c + a ^+ 2 / (2 * a)).
  have -> : c + (E V + a ^+ 2) / (2 * a) = E (fun w => (2 * a)^-1 * V w + (c + a ^+ 2 / (2 * a))).
    by rewrite of_sum // of_multiple // of_constant; field; rewrite gt_eqF.
  apply: monotone => [||w]; [by []|exact: integrable_sum|].
  have [V0 fw] := le w; apply: le_trans fw _; rewrite [X in _ <= X]addrCA ler_add2l mulrC -mulrDl.
  rewrite ler_pdivl_mulr // -subr_ge0 -{1}(sqr_sqrtr V0).
  have -> : Num.sqrt (V w) ^+ 2 + a ^+ 2 - Num.sqrt (V w) * (2 * a) = (Num.sqrt (V w) - a) ^+ 2.
    by ring.
  exact: sqr_ge0.
have [z|z] := eqVneq (E V) 0; last first.
  set r := Num.sqrt (E V); have rr : E V = r ^+ 2 by rewrite sqr_sqrtr.
  have r0 : 0 < r by rewrite sqrtr_gt0 lt_def z.
  have := below r r0; rewrite rr; have -> // : (r ^+ 2 + r ^+ 2) / (2 * r) = r.
  by field; rewrite gt_eqF.
rewrite z sqrtr0 addr0; apply/ler_addgt0Pr => a a0; have := below _ a0.
rewrite z add0r; have -> : a ^+ 2 / (2 * a) = a / 2 by field; rewrite gt_eqF.
move=> /le_trans; apply; rewrite ler_add2l ler_pdivr_mulr ?ltr0n //.
by rewrite ler_pemulr ?ltW ?ltr1n.
Qed.
End Theory.

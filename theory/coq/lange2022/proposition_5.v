(* Proposition 5: the expected norm of Ghat = [e, G], for random matrices.

   A random matrix is a function of the outcome.  The norm of a matrix is its largest singular
   value.  Nothing is asked of the law of the entries but the moments that a theorem names, so that
   what is said holds of independent entries and of others. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct SpectralTheorem ConditionNumber Preconditioning.
From BatchNorm Require Import Differentiation Expectation.
From BatchNorm.lange2022 Require Import theorem_4_scaling norm_of_features.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* The last equation of its proof, and the same for a convolution's q. *)
Theorem last_equation (R : rcfType) (N n : nat) : (0 < N)%N ->
  1 / Num.max (n%:R / N%:R) 1 * Num.max N%:R n%:R = N%:R :> R.
Proof.
move=> N0; have NR : 0 < N%:R :> R by rewrite ltr0n.
have q0 : 0 < Num.max (n%:R / N%:R) 1 :> R by rewrite lt_maxr ltr01 orbT.
have -> : Num.max N%:R n%:R = N%:R * Num.max (n%:R / N%:R) 1 :> R.
  by rewrite maxr_pmulr ?ltW // mulr1 mulrCA mulfV ?gt_eqF // mulr1 maxC.
by field; rewrite gt_eqF.
Qed.

(* The column of ones costs the root of N. *)
Theorem expected_norm_beside_ones (R : rcfType) T (E : expectation R T) N n (G : T -> 'M[R]_(N, n))
    (s t : T -> R) :
  (forall w, largest_singular_value (augmented (G w)) (s w)) ->
  (forall w, largest_singular_value (G w) (t w)) -> integrable E s -> integrable E t ->
  E s <= Num.sqrt N%:R + E t.
Proof.
move=> norm_Ghat norm_G Is It; have IN := integrable_constant E (Num.sqrt N%:R).
rewrite -(of_constant E (Num.sqrt N%:R)) -of_sum //; apply: monotone => // [|w].
  exact: integrable_sum.
have [[s0 _] _] := norm_Ghat w; have [[t0 _] _] := norm_G w.
rewrite -ler_sqr ?nnegrE ?addr_ge0 ?sqrtr_ge0 // sqrrD sqr_sqrtr ?ler0n //.
apply: le_trans (beside_ones_any (norm_Ghat w) (norm_G w)) _.
by rewrite ler_add2r ler_addl mulrn_wge0 // mulr_ge0 ?sqrtr_ge0.
Qed.

(* ---- a constant for each number of examples ---- *)

Section MeanSquares.
Variables (R : rcfType) (T : Type) (E : expectation R T) (N n : nat) (G : T -> 'M[R]_(N, n)).
Hypothesis mean_square : forall i j, integrable E (fun w => G w i j ^+ 2) /\
  E (fun w => G w i j ^+ 2) = 1.

Lemma entriesE w : \sum_i \sum_j G w i j ^+ 2 = sq (G w).
Proof. by apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite expr2. Qed.

Lemma integrable_entries : integrable E (fun w => \sum_i \sum_j G w i j ^+ 2).
Proof.
by apply: integrable_sums => i; apply: integrable_sums => j; case: (mean_square i j).
Qed.
Lemma integrable_frobenius : integrable E (fun w => sq (G w)).
Proof. exact: integrable_same entriesE integrable_entries. Qed.
Lemma mean_frobenius : E (fun w => sq (G w)) = (N * n)%:R.
Proof.
rewrite -(of_same entriesE integrable_entries) of_sums => [|i]; last first.
  by apply: integrable_sums => j; case: (mean_square i j).
rewrite (eq_bigr (fun _ => n%:R)) => [|i _]; first by rewrite sumr_const card_ord natrM mulr_natl.
rewrite of_sums => [|j]; last by case: (mean_square i j).
rewrite (eq_bigr (fun _ => 1)) => [|j _]; first by rewrite sumr_const card_ord.
by case: (mean_square i j).
Qed.
End MeanSquares.

Theorem expected_norm_by_frobenius (R : rcfType) T (E : expectation R T) N n
    (G : T -> 'M[R]_(N, n)) (s : T -> R) :
  let q := Num.sqrt (Num.max (n%:R / N%:R) 1) in (0 < N)%N ->
  (forall i j, integrable E (fun w => G w i j ^+ 2) /\ E (fun w => G w i j ^+ 2) = 1) ->
  (forall w, largest_singular_value (augmented (G w)) (s w)) -> integrable E s ->
  E (fun w => 1 / q * s w) / Num.sqrt N%:R <= Num.sqrt (N%:R + 1).
Proof.
move=> q N_gt0 mean_square norm Is; have NR : 0 < N%:R :> R by rewrite ltr0n.
have q2 : 0 < Num.max (n%:R / N%:R) 1 :> R by rewrite lt_maxr ltr01 orbT.
have q0 : 0 < q by rewrite sqrtr_gt0.
have IF := integrable_frobenius mean_square; have IN := integrable_constant E N%:R.
have IV := integrable_sum IN IF.
have Es : E s <= Num.sqrt (N%:R * (n%:R + 1)).
  have -> : N%:R * (n%:R + 1) = E (fun w => N%:R + sq (G w)) :> R.
    by rewrite of_sum // of_constant (mean_frobenius mean_square) natrM; ring.
  rewrite -[X in _ <= X]add0r; apply: at_most_root => // w.
  have [[s0 _] _] := norm w; split; first by rewrite addr_ge0 ?ler0n ?sq_ge0.
  rewrite add0r -ler_sqr ?nnegrE ?sqrtr_ge0 // sqr_sqrtr ?addr_ge0 ?ler0n ?sq_ge0 //.
  apply: (norm_le (norm w)) => z; apply: le_trans (sq_mul_le _ _) _.
  rewrite ler_wpmul2r ?sq_ge0 //.
  by rewrite -sq_transpose tr_row_mx sq_col_mx !sq_transpose sq_e.
have enough : n%:R + 1 <= Num.max (n%:R / N%:R) 1 * (N%:R + 1) :> R.
  have [le|lt] := lerP (N%:R : R) n%:R.
    apply: le_trans (ler_wpmul2r _ (_ : n%:R / N%:R <= _));
      rewrite ?le_maxr ?lexx ?addr_ge0 ?ler0n //.
    by rewrite mulrDr mulr1 divfK ?gt_eqF // ler_add2l ler_pdivl_mulr ?mul1r.
  apply: le_trans (ler_wpmul2r _ (_ : 1 <= _)); rewrite ?le_maxr ?lexx ?orbT ?addr_ge0 ?ler0n //.
  by rewrite mul1r ler_add2r ltW.
rewrite of_multiple // mulrAC mul1r -invfM ler_pdivr_mull ?mulr_gt0 ?sqrtr_gt0 //.
apply: le_trans Es _; rewrite /q -!sqrtrM ?mulr_ge0 ?(ltW q2) ?ler0n //; apply: ler_wsqrtr.
by rewrite mulrAC mulrC ler_wpmul2l ?ler0n.
Qed.

(* Normalized inputs, where no feature is constant: whatever their law. *)
Theorem expected_norm_normalized (R : rcfType) T (E : expectation R T) N n
    (H : T -> 'M[R]_(N, n)) (s : T -> R) :
  let q := Num.sqrt (Num.max (n%:R / N%:R) 1) in (0 < N)%N -> (0 < n)%N ->
  (forall w, no_constant_feature (H w)) ->
  (forall w, largest_singular_value (own_normalized (H w)) (s w)) -> integrable E s ->
  E (fun w => 1 / q * s w) / Num.sqrt N%:R <= Num.sqrt (Num.min N%:R n%:R).
Proof.
move=> q N_gt0 n_gt0 spread norm Is; have NR : 0 < N%:R :> R by rewrite ltr0n.
have m0 : 0 <= Num.min N%:R n%:R :> R by rewrite le_minr !ler0n.
have q2 : 0 < Num.max (n%:R / N%:R) 1 :> R by rewrite lt_maxr ltr01 orbT.
rewrite ler_pdivr_mulr ?sqrtr_gt0 //; apply: at_most => [|w]; first exact: integrable_multiple.
have [[s0 _] _] := norm w; rewrite /q.
rewrite -ler_sqr ?nnegrE ?mulr_ge0 ?divr_ge0 ?invr_ge0 ?sqrtr_ge0 ?ler01 //.
rewrite !exprMn exprVn !sqr_sqrtr ?ler0n ?m0 ?(ltW q2) // expr1n [X in _ <= X]mulrC.
exact: norm_over_q_corrected.
Qed.

(* ---- the longest row ---- *)

Section LongestRow.
Variables (R : rcfType) (T : Type) (E : expectation R T) (N n : nat) (G : T -> 'M[R]_(N, n)).
Variable m4 : R.
Hypothesis squares : forall i j, integrable E (fun w => G w i j ^+ 2) /\
  E (fun w => G w i j ^+ 2) = 1.
Hypothesis products : forall i j k, integrable E (fun w => G w i j ^+ 2 * G w i k ^+ 2) /\
  E (fun w => G w i j ^+ 2 * G w i k ^+ 2) = if j == k then m4 else 1.

Let square i w : R := sq (row i (G w)).
Lemma squareE i w : square i w = \sum_j G w i j ^+ 2.
Proof. by rewrite /square -sq_transpose sq_column; apply: eq_bigr => j _; rewrite !mxE. Qed.

Let all_products i w : R := \sum_j \sum_k G w i j ^+ 2 * G w i k ^+ 2.
Let all_squares i w : R := \sum_j G w i j ^+ 2.
Lemma deviationE i w :
  all_products i w + (- (2 * n%:R) * all_squares i w + n%:R ^+ 2) = (square i w - n%:R) ^+ 2.
Proof.
have -> : all_products i w = all_squares i w * all_squares i w.
  by rewrite {1}/all_squares mulr_suml; apply: eq_bigr => j _; rewrite mulr_sumr.
by rewrite squareE -/(all_squares i w); ring.
Qed.

Lemma integrable_products i : integrable E (all_products i).
Proof. by apply: integrable_sums => j; apply: integrable_sums => k; case: (products i j k). Qed.
Lemma integrable_squares i : integrable E (all_squares i).
Proof. by apply: integrable_sums => j; case: (squares i j). Qed.
Lemma integrable_rest i : integrable E (fun w => - (2 * n%:R) * all_squares i w + n%:R ^+ 2).
Proof.
apply: integrable_sum; last exact: integrable_constant.
exact: integrable_multiple (integrable_squares i).
Qed.
Lemma integrable_deviation i : integrable E (fun w => (square i w - n%:R) ^+ 2).
Proof.
exact: integrable_same (deviationE i) (integrable_sum (integrable_products i) (integrable_rest i)).
Qed.

Lemma mean_products i : E (all_products i) = n%:R * m4 + n%:R * (n%:R - 1).
Proof.
rewrite of_sums => [|j]; last by apply: integrable_sums => k; case: (products i j k).
rewrite (eq_bigr (fun _ => m4 + (n%:R - 1))) => [|j _].
  by rewrite sumr_const card_ord -[LHS]mulr_natl -mulrDr.
rewrite of_sums => [|k]; last by case: (products i j k).
rewrite (bigD1 j) //= (products i j j).2 eqxx; congr (_ + _).
rewrite (eq_bigr (fun _ => 1)) => [|k kj].
  by rewrite sumr_const cardC1 card_ord; case: (n) j => [[]//|p] _; rewrite mulrSr addrK.
by rewrite (products i j k).2 eq_sym (negPf kj).
Qed.
Lemma mean_squares i : E (all_squares i) = n%:R.
Proof.
rewrite of_sums => [|j]; last by case: (squares i j).
rewrite (eq_bigr (fun _ => 1)) => [|j _]; first by rewrite sumr_const card_ord.
by case: (squares i j).
Qed.
Lemma mean_deviation i : E (fun w => (square i w - n%:R) ^+ 2) = n%:R * (m4 - 1).
Proof.
have Isum := integrable_sum (integrable_products i) (integrable_rest i).
rewrite -(of_same (deviationE i) Isum) of_sum ?mean_products; last 2 first.
- exact: integrable_products.
- exact: integrable_rest.
rewrite of_sum ?of_constant; last 2 first.
- exact: integrable_multiple (integrable_squares i).
- exact: integrable_constant.
by rewrite (of_multiple _ (integrable_squares i)) mean_squares; ring.
Qed.
End LongestRow.

(* The squares of the entries have the mean 1 and the mean square m4; those of two entries of a row
   are not correlated, as of independent ones. *)
Theorem expected_longest_row (R : rcfType) T (E : expectation R T) N n (G : T -> 'M[R]_(N, n))
    (m4 : R) (longest : T -> R) :
  (forall i j, integrable E (fun w => G w i j ^+ 2) /\ E (fun w => G w i j ^+ 2) = 1) ->
  (forall i j k, integrable E (fun w => G w i j ^+ 2 * G w i k ^+ 2) /\
     E (fun w => G w i j ^+ 2 * G w i k ^+ 2) = if j == k then m4 else 1) ->
  (forall w, exists i, longest w = sq (row i (G w))) -> integrable E longest ->
  E longest <= n%:R + Num.sqrt (N%:R * n%:R * (m4 - 1)).
Proof.
move=> squares products is_one Il; pose square i w := sq (row i (G w)).
have deviation i : integrable E (fun w => (square i w - n%:R) ^+ 2).
  exact: integrable_deviation squares products i.
have Isum : integrable E (fun w => \sum_i (square i w - n%:R) ^+ 2).
  by apply: integrable_sums => i; apply: deviation.
have -> : N%:R * n%:R * (m4 - 1) = E (fun w => \sum_i (square i w - n%:R) ^+ 2).
  rewrite of_sums => [|i]; last exact: deviation.
  rewrite (eq_bigr (fun _ => n%:R * (m4 - 1))) => [|i _]; last first.
    exact: mean_deviation squares products i.
  by rewrite sumr_const card_ord -mulrA mulr_natl.
apply: at_most_root => // w; have terms i : 0 <= (square i w - n%:R) ^+ 2 by apply: sqr_ge0.
split; first exact: sumr_ge0.
have [i ->] := is_one w; rewrite -ler_subl_addl -/(square i w); apply: le_trans (ler_norm _) _.
rewrite -sqrtr_sqr; apply: ler_wsqrtr; rewrite (bigD1 i) //= ler_addl.
exact: sumr_ge0.
Qed.

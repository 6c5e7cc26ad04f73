(* After Theorem 4: kappa of the Hessian Hhat'S Hhat, S = diag (s_1^2, ..., s_N^2) > 0, is no larger
   after a centring by the mean weighted by S,

     mu_s = H's^2/|s|^2,   kappa (U_s'Hhat'S Hhat U_s) <= kappa (Hhat'S Hhat).

   It is the proof of Theorem 4 with the rows of Hhat multiplied by s_1, ..., s_N. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct ConditionNumber Preconditioning.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Weighted.
Variables (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) (s : 'cV[R]_N).

Definition squares : 'cV[R]_N := \col_j (s j 0 ^+ 2).
Definition weighted_mean : 'cV[R]_n := (1 / sq s) *: (H^T *m squares).
(* The rows multiplied by the roots of S. *)
Definition weighted p (F : 'M[R]_(N, p)) : 'M[R]_(N, p) := diag_mx s^T *m F.

Local Notation mu := weighted_mean.
Local Notation Hhat := (augmented H).
Local Notation centred_Hhat := (row_mx (e N) (centred H mu)).

Lemma weighted_ones : weighted (e N) = s.
Proof. by apply/matrixP => j i; rewrite /weighted mul_diag_mx !mxE mulr1 !ord1. Qed.

Hypothesis s0 : sq s != 0.

Lemma dot_weighted (x : 'cV_n) : dot s (weighted (H *m x)) = sq s * dot mu x.
Proof.
have -> : dot s (weighted (H *m x)) = dot squares (H *m x).
  by rewrite !dot_column; apply: eq_bigr => j _; rewrite /weighted mul_diag_mx !mxE expr2 mulrA.
by rewrite dotC dot_mul dotC /weighted_mean dotZl mulrA mul1r mulfV // mul1r.
Qed.

Lemma weighted_centred (x : 'cV_n) :
  weighted (centred H mu *m x) = weighted (H *m x) - dot mu x *: s.
Proof.
by rewrite centred_mul /weighted mulmxBr -scalemxAr -[X in _ - _ *: X]/(weighted _) weighted_ones.
Qed.
Lemma weighted_orthogonal (x : 'cV_n) : dot s (weighted (centred H mu *m x)) = 0.
Proof. by rewrite weighted_centred dotBr dotZr dot_weighted -/(sq s) mulrC subrr. Qed.

Lemma sq_weighted_features (x : 'cV_n) :
  sq (weighted (H *m x)) = sq (weighted (centred H mu *m x)) + sq s * dot mu x ^+ 2.
Proof.
have -> : weighted (H *m x) = weighted (centred H mu *m x) + dot mu x *: s.
  by rewrite weighted_centred subrK.
by rewrite sqD sqZ dotZr [dot _ s]dotC weighted_orthogonal !mulr0 addr0 mulrC.
Qed.

Lemma weighted_block_diagonal t (x : 'cV_n) : sq (weighted centred_Hhat *m stack t x) =
  sq s * t ^+ 2 + sq (weighted (centred H mu *m x)).
Proof.
rewrite -mulmxA -/(augmented _) augmented_stack mulmxDr -scalemxAr.
rewrite -[X in _ *: X + _]/(weighted _) weighted_ones -/(weighted _).
by rewrite sqD sqZ dotZl weighted_orthogonal !mulr0 addr0 mulrC.
Qed.

Lemma weighted_quotients a b : 0 <= a -> full_column_rank (weighted Hhat) ->
  quotients_within (weighted Hhat) a b -> quotients_within (weighted centred_Hhat) a b.
Proof.
move=> a0 full within z _; have [t [x ->]] := stackE z.
have {}within (y : 'cV_(1 + n)) : a * sq y <= sq (weighted Hhat *m y) <= b * sq y.
  by apply: within; apply: full_rank_orthogonal.
have ones := within (stack t 0); rewrite -mulmxA augmented_stack mulmx0 addr0 in ones.
rewrite /weighted -scalemxAr -/(weighted (e N)) weighted_ones sqZ sq_stack sq0 addr0 in ones.
have := within (stack 0 x); rewrite -mulmxA augmented_stack scale0r add0r -/(weighted _).
rewrite sq_weighted_features sq_stack expr0n add0r => /andP[_ above].
have := within (stack (- dot mu x) x); rewrite -mulmxA augmented_lifted -/(weighted _).
rewrite sq_stack => /andP[below _].
have /andP[ones_lo ones_hi] := ones.
rewrite weighted_block_diagonal sq_stack !mulrDr [sq s * _]mulrC.
apply/andP; split; apply: ler_add => //.
  by apply: le_trans below; rewrite ler_wpmul2l // ler_addr sqr_ge0.
by apply: le_trans above; rewrite ler_addl mulr_ge0 ?sq_ge0 ?sqr_ge0.
Qed.
End Weighted.

(* The squares are the condition numbers of Hhat'S Hhat, before and after. *)
Theorem weighted_mean_corrected (R : rcfType) N n (H : 'M[R]_(N, n)) (s : 'cV[R]_N) (K K' : R) :
  let Hhat := augmented H in let centred_Hhat := row_mx (e N) (centred H (weighted_mean H s)) in
  full_column_rank Hhat -> (forall j, 0 < s j 0 ^+ 2) ->
  condition_number (diag_mx s^T *m Hhat) K -> condition_number (diag_mx s^T *m centred_Hhat) K' ->
  K' ^+ 2 <= K ^+ 2.
Proof.
move=> Hhat centred_Hhat full positive kH kU.
have s_neq0 j : s j 0 != 0 by rewrite -sqrf_eq0 gt_eqF.
have injective : full_column_rank (weighted s Hhat).
  apply/full_column_rankP => z; rewrite -mulmxA => zero; move/full_column_rankP: full; apply.
  apply/matrixP => j i; rewrite !ord1 [RHS]mxE; apply: (mulfI (s_neq0 j)).
  by move/matrixP/(_ j 0): zero; rewrite mul_diag_mx mxE [X in X * _]mxE [RHS]mxE mulr0.
have s0 : sq s != 0.
  rewrite sq_eq0; apply/eqP => sz; move/full_column_rankP: injective => /(_ (stack 1 0)).
  rewrite /weighted sz trmx0 raddf0 !mul0mx => /(_ erefl)/matrixP/(_ 0 0)/eqP.
  by rewrite !mxE; case: splitP => // k _; rewrite mxE ord1 eqxx oner_eq0.
have [a [b [a0 b0 bE within]]] := condition_number_quotients kH.
have := condition_number_le kU a0 (weighted_quotients s0 (ltW a0) injective within).
by rewrite bE ler_pmul2r.
Qed.

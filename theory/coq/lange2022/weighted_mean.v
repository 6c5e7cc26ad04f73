(* After Theorem 4: kappa of the Hessian Hhat'S Hhat, S = diag (s_1^2, ..., s_N^2) > 0, is no larger
   after a centring by the mean weighted by S,

     mu_s = H's^2/|s|^2,   kappa (U_s'Hhat'S Hhat U_s) <= kappa (Hhat'S Hhat).

   and the scaling to columns of norm one, of Hhat U_s with its rows multiplied by s_1, ..., s_N, is
   within root n of the best.  Both are the proof of Theorem 4 with such rows. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct ConditionNumber Preconditioning.
From BatchNorm.lange2022 Require Import lemma_a1.
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

Lemma weighted_full_rank : full_column_rank (weighted Hhat) ->
  full_column_rank (weighted centred_Hhat).
Proof.
move=> /full_column_rankP inj; apply/full_column_rankP => z; have [t [x ->]] := stackE z => /eqP.
have st : 0 <= sq s * t ^+ 2 by rewrite mulr_ge0 ?sq_ge0 ?sqr_ge0.
rewrite -sq_eq0 weighted_block_diagonal (paddr_eq0 st (sq_ge0 _)) mulf_eq0 (negbTE s0) /=.
rewrite sqrf_eq0 sq_eq0 => /andP[/eqP -> /eqP zero].
have := inj (stack (- dot mu x) x); rewrite -mulmxA augmented_lifted => /(_ zero)/eqP.
by rewrite col_mx_eq0 => /andP[_ /eqP ->]; rewrite /stack raddf0 col_mx0.
Qed.

Lemma weighted_scaled K K0 (d : 'rV[R]_(1 + n)) : (0 < n)%N ->
  full_column_rank (weighted centred_Hhat) -> nonzero d ->
  condition_number (weighted centred_Hhat *m diag_mx (unit_columns (weighted centred_Hhat))) K ->
  condition_number (weighted centred_Hhat *m diag_mx d) K0 -> K ^+ 2 <= n%:R * K0 ^+ 2.
Proof.
move=> n0 full nz kK kK0; set F := weighted centred_Hhat in full kK kK0.
pose C := weighted (centred H mu).
have FE : F = row_mx s C by rewrite /F /weighted mul_mx_row -/(weighted (e N)) weighted_ones.
have unit i : unit_columns F 0 i ^+ 2 * sq (col i F) = 1.
  by apply: unit_columns_norm => j; apply: full_rank_columns.
apply: (equal_columns ltr01 unit nz (ler0n _ n) _ kK kK0) => z; rewrite mulr1.
have [t [x ->]] := stackE z; set u := unit_columns F in unit *.
have -> : F *m diag_mx u *m stack t x =
    (u 0 (lshift n 0) * t) *: s + C *m diag_mx (rsubmx u) *m x.
  rewrite FE -mulmxA -[u in diag_mx u]hsubmxK diag_mx_row mul_block_col !mul0mx addr0 add0r.
  rewrite mul_row_col !mulmxA; congr (_ + _); rewrite mul_mx_scalar -[t in t *: _]mulr1.
  apply/matrixP => i j; rewrite !ord1 mxE mul_mx_diag !mxE; ring.
rewrite sqD sqZ dotZl -[C *m _ *m x]mulmxA /C -mulmxA weighted_orthogonal !mulr0 addr0.
have first : u 0 (lshift n 0) ^+ 2 * sq s = 1.
  rewrite -[RHS](unit (lshift n 0)) FE colKl; congr (_ * sq _).
  by apply/matrixP => i j; rewrite mxE ord1.
rewrite exprMn mulrAC first mul1r sq_stack mulrDr; apply: ler_add.
  by rewrite ler_pemull ?sqr_ge0 // ler1n.
have rest i : (rsubmx u) 0 i ^+ 2 * sq (col i C) = 1.
  by rewrite mxE -[RHS](unit (rshift 1 i)) FE colKr.
by have := equal_above rest x; rewrite mulr1 /C /weighted -!mulmxA.
Qed.
End Weighted.

Lemma weighted_rows (R : rcfType) N n (H : 'M[R]_(N, n)) (s : 'cV[R]_N) :
  full_column_rank (augmented H) -> (forall j, 0 < s j 0 ^+ 2) ->
  sq s != 0 /\ full_column_rank (weighted s (augmented H)).
Proof.
move=> full positive; have s_neq0 j : s j 0 != 0 by rewrite -sqrf_eq0 gt_eqF.
have injective : full_column_rank (weighted s (augmented H)).
  apply/full_column_rankP => z; rewrite -mulmxA => zero; move/full_column_rankP: full; apply.
  apply/matrixP => j i; rewrite !ord1 [RHS]mxE; apply: (mulfI (s_neq0 j)).
  by move/matrixP/(_ j 0): zero; rewrite mul_diag_mx mxE [X in X * _]mxE [RHS]mxE mulr0.
split=> //; rewrite sq_eq0; apply/eqP => sz.
move/full_column_rankP: injective => /(_ (stack 1 0)).
rewrite /weighted sz trmx0 raddf0 !mul0mx => /(_ erefl)/matrixP/(_ 0 0)/eqP.
by rewrite !mxE; case: splitP => // k _; rewrite mxE ord1 eqxx oner_eq0.
Qed.

(* The squares are the condition numbers of Hhat'S Hhat, before and after. *)
Theorem weighted_mean_corrected (R : rcfType) N n (H : 'M[R]_(N, n)) (s : 'cV[R]_N) (K K' : R) :
  let Hhat := augmented H in let centred_Hhat := row_mx (e N) (centred H (weighted_mean H s)) in
  full_column_rank Hhat -> (forall j, 0 < s j 0 ^+ 2) ->
  condition_number (diag_mx s^T *m Hhat) K -> condition_number (diag_mx s^T *m centred_Hhat) K' ->
  K' ^+ 2 <= K ^+ 2.
Proof.
move=> Hhat centred_Hhat full positive kH kU; have [s0 injective] := weighted_rows full positive.
have [a [b [a0 b0 bE within]]] := condition_number_quotients kH.
have := condition_number_le kU a0 (weighted_quotients s0 (ltW a0) injective within).
by rewrite bE ler_pmul2r.
Qed.

(* The scaling to columns of norm one, the features' variances weighted by S, against any other. *)
Theorem weighted_variance_corrected (R : rcfType) N n (H : 'M[R]_(N, n)) (s : 'cV[R]_N)
    (d0 : 'rV[R]_(1 + n)) (K K0 : R) :
  let F := diag_mx s^T *m row_mx (e N) (centred H (weighted_mean H s)) in
  (0 < n)%N -> full_column_rank (augmented H) -> (forall j, 0 < s j 0 ^+ 2) -> nonzero d0 ->
  condition_number (F *m diag_mx (unit_columns F)) K -> condition_number (F *m diag_mx d0) K0 ->
  K ^+ 2 <= n%:R * K0 ^+ 2.
Proof.
move=> F n0 full positive nz; have [s0 injective] := weighted_rows full positive.
exact: (weighted_scaled s0 n0 (weighted_full_rank s0 injective) nz).
Qed.

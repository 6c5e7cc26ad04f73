(* Theorem 4, the centring: kappa(Hhat U) <= kappa(Hhat) where Hhat has full column rank.

   By block_diagonal the quotients of Hhat U are means of N, which is Hhat's own quotient at (1, 0),
   and of quotients of C = H - e mu_H'.  Those lie between Hhat's: |C x| <= |H x| = |Hhat (0, x)|,
   and |C x| = |Hhat (-mu_H' x, x)| is the image of a vector no shorter than x.

   kappa is over the nonzero singular values, and at any rank the null space costs a factor:

     kappa(Hhat U)^2 <= (1 + |mu_0|^2) kappa(Hhat)^2,

   mu_0 being the projection of mu_H on the null space of C.  Full column rank makes it zero, so the
   theorem is a case of its correction.  H = (2, 1; -2, 1) shows that it fails without. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct ConditionNumber Preconditioning TwoByTwo.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Centring.
Variables (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)).
Hypothesis N_gt0 : (0 < N)%N.
Local Notation Hhat := (augmented H).
Local Notation mu := (mean H).
Local Notation U := (centring mu).
Local Notation C := (centred H mu).

(* p is the orthogonal projection of v on the null space of F. *)
Definition null_projection m (F : 'M[R]_(m, n)) (v p : 'cV[R]_n) :=
  F *m p = 0 /\ orthogonal_to_null F (v - p).

Lemma null_augmented s y : Hhat *m stack s y = 0 -> s = - dot mu y /\ C *m y = 0.
Proof.
move=> z; have sE : s = - dot mu y.
  have := congr1 (dot (e N)) z; rewrite augmented_stack dotDr dotZr -/(sq _) sq_e dot_e_mul //.
  rewrite dot0r [s * _]mulrC -mulrDr => /eqP; rewrite mulf_eq0 (negbTE (NR_neq0 R N_gt0)) /=.
  by rewrite addr_eq0 => /eqP.
by split=> //; rewrite -augmented_lifted -sE.
Qed.

Lemma centring_null t x : orthogonal_to_null (Hhat *m U) (stack t x) -> orthogonal_to_null C x.
Proof.
move=> oz y Cy; have := oz (stack 0 y).
rewrite augmented_centring augmented_stack scale0r add0r Cy dot_stack mulr0 add0r.
exact.
Qed.

Lemma centred_below a b x : 0 <= a -> quotients_within Hhat a b ->
  orthogonal_to_null C x -> a * sq x <= sq (C *m x).
Proof.
move=> a0 within ox; have [w Hw ow] := null_vector_part Hhat (stack (- dot mu x) x).
have [s [y wE]] := stackE w; have [_ Cy] := null_augmented (etrans (congr1 _ (esym wE)) Hw).
have /andP[lo _] := within _ ow.
rewrite mulmxBr Hw subr0 augmented_lifted in lo; apply: le_trans lo.
rewrite ler_wpmul2l // wE /stack opp_col_mx add_col_mx sq_col_mx [sq (x - y)]sqB (ox y Cy).
by rewrite mulr0 subr0 addrCA ler_addl addr_ge0 ?sq_ge0.
Qed.

Lemma bias_below a b mu0 : 0 <= a -> quotients_within Hhat a b -> null_projection C mu mu0 ->
  a <= (1 + sq mu0) * N%:R.
Proof.
move=> a0 within [Cmu0 omu0]; have [w Hw ow] := null_vector_part Hhat (stack 1 0).
have [s [y wE]] := stackE w; have [sE Cy] := null_augmented (etrans (congr1 _ (esym wE)) Hw).
have /andP[lo _] := within _ ow.
rewrite mulmxBr Hw subr0 augmented_stack mulmx0 addr0 scale1r sq_e in lo.
have p0 : 0 <= 1 + sq mu0 by rewrite addr_ge0 ?ler01 ?sq_ge0.
apply: le_trans (_ : (1 + sq mu0) * (a * sq (stack 1 0 - w)) <= _); last by rewrite ler_wpmul2l.
have my : dot mu y = dot mu0 y by apply/eqP; rewrite -subr_eq0 -dotBl omu0.
rewrite mulrCA -[X in X <= _]mulr1 ler_wpmul2l //.
have := cauchy_schwarz (stack 1 mu0) (stack 1 0 - w).
have -> : dot (stack 1 mu0) (stack 1 0 - w) = 1.
  by rewrite dotBr wE !dot_stack dot0r sE my; ring.
by rewrite expr1n sq_stack expr1n.
Qed.

Lemma centring_quotients a b mu0 : 0 < a -> 0 <= b -> null_projection C mu mu0 ->
  quotients_within Hhat a b -> quotients_within (Hhat *m U) (a / (1 + sq mu0)) b.
Proof.
move=> a0 b0 proj within z oz; have [t [x zE]] := stackE z; rewrite zE in oz *.
have ox := centring_null oz; have above := quotients_above b0 within.
have p0 : 0 < 1 + sq mu0 by rewrite ltr_paddr ?sq_ge0 ?ltr01.
rewrite block_diagonal // sq_stack !mulrDr; apply/andP; split; apply: ler_add.
- rewrite ler_wpmul2r ?sqr_ge0 // ler_pdivr_mulr // mulrC.
  by apply: bias_below within proj; apply: ltW.
- apply: le_trans (centred_below (ltW a0) within ox).
  by rewrite ler_wpmul2r ?sq_ge0 // ler_pdivr_mulr // ler_pemulr ?(ltW a0) // ler_addl sq_ge0.
- rewrite ler_wpmul2r ?sqr_ge0 //; have := above (stack 1 0).
  by rewrite augmented_stack mulmx0 addr0 scale1r sq_e sq_stack sq0 addr0 expr1n mulr1.
have := above (stack 0 x); rewrite augmented_stack scale0r add0r sq_stack expr0n add0r.
apply: le_trans; rewrite sq_centred // ler_subl_addr ler_addl.
by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
Qed.

Lemma any_rank K K' mu0 : null_projection C mu mu0 ->
  condition_number Hhat K -> condition_number (Hhat *m U) K' ->
  K' ^+ 2 <= (1 + sq mu0) * K ^+ 2.
Proof.
move=> proj kH kU; have [a [b [a0 b0 bE within]]] := condition_number_quotients kH.
have p0 : 0 < 1 + sq mu0 by rewrite ltr_paddr ?sq_ge0 ?ltr01.
have := condition_number_le kU _ (centring_quotients a0 (ltW b0) proj within).
rewrite divr_gt0 // => /(_ isT); rewrite bE mulrA ler_pdivr_mulr //.
by rewrite [_ * a * _]mulrAC ler_pmul2r // mulrC.
Qed.

Lemma full_rank_centred : full_column_rank Hhat -> forall x : 'cV_n, C *m x = 0 -> x = 0.
Proof.
move=> /full_column_rankP inj x Cx; have := inj (stack (- dot mu x) x).
by rewrite augmented_lifted Cx => /(_ erefl)/eqP; rewrite col_mx_eq0 => /andP[_ /eqP].
Qed.

Lemma full_rank K K' : full_column_rank Hhat ->
  condition_number Hhat K -> condition_number (Hhat *m U) K' -> K' <= K.
Proof.
move=> full kH kU; have K0 := ltW (condition_number_gt0 kH).
have K'0 := ltW (condition_number_gt0 kU).
have proj : null_projection C mu 0.
  by split=> [|y /(full_rank_centred full) ->]; rewrite ?mulmx0 ?dot0r.
by have := any_rank proj kH kU; rewrite sq0 addr0 mul1r ler_sqr.
Qed.

Lemma centring_by_others m : row_mx (e N) (centred H m) = Hhat *m U *m centring (m - mu).
Proof.
rewrite augmented_centring mul_row_block mulmx1 mulmx0 addr0; congr row_mx.
by rewrite mulmx1 mulmxN linearB /= mulmxBr opprB addrC addrA addrNK.
Qed.

Lemma centring_nonsingular (m : 'cV[R]_n) : centring m \in unitmx.
Proof. by rewrite unitmxE det_ublock !det1 mulr1 unitr1. Qed.

Lemma other_means m K K' L : full_column_rank Hhat ->
  condition_number Hhat K -> condition_number (centring (m - mu)) L ->
  condition_number (row_mx (e N) (centred H m)) K' -> K' <= L * K.
Proof.
move=> full kH kL; rewrite centring_by_others => kK'.
have L0 := ltW (condition_number_gt0 kL).
have [|M kM] := @condition_number_exists _ _ _ (Hhat *m U).
  rewrite mulmx_free_eq0 ?row_free_unit ?centring_nonsingular //.
  rewrite row_mx_eq0 negb_and; apply/orP; left.
  by rewrite -sq_gt0 sq_e NR_gt0.
rewrite mulrC; apply: le_trans (condition_number_product _ kM kL kK') _.
  exact: centring_nonsingular.
by rewrite ler_wpmul2r //; apply: full_rank full kH kM.
Qed.
End Centring.

(* Theorem 4, first display. *)
Theorem theorem_4a (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) (K K' : R) :
  let Hhat := augmented H in let U := centring (mean H) in
  (0 < N)%N -> full_column_rank Hhat ->
  condition_number Hhat K -> condition_number (Hhat *m U) K' -> K' <= K.
Proof. by move=> Hhat U N0; apply: full_rank. Qed.

(* Corrected, without the hypothesis of full column rank: what the null space costs. *)
Theorem theorem_4a_any_rank_corrected (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) (K K' : R) mu0 :
  let Hhat := augmented H in let U := centring (mean H) in
  (0 < N)%N -> null_projection (centred H (mean H)) (mean H) mu0 ->
  condition_number Hhat K -> condition_number (Hhat *m U) K' ->
  K' ^+ 2 <= (1 + sq mu0) * K ^+ 2.
Proof. by move=> Hhat U N0; apply: any_rank. Qed.

(* With other means m than the batch's own, such as Algorithm 2's running ones: a centring more, *)
Theorem centring_by_other_means (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) (m : 'cV[R]_n) :
  row_mx (e N) (centred H m) = augmented H *m centring (mean H) *m centring (m - mean H).
Proof. exact: centring_by_others. Qed.

(* ... whose condition number bounds what is lost. *)
Theorem theorem_4a_other_means (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) m (K K' L : R) :
  (0 < N)%N -> full_column_rank (augmented H) ->
  condition_number (augmented H) K -> condition_number (centring (m - mean H)) L ->
  condition_number (row_mx (e N) (centred H m)) K' -> K' <= L * K.
Proof. by move=> N0; apply: other_means. Qed.

(* Without full column rank it falls: H = (2, 1; -2, 1), 2 before and 4 after (squared). *)
Theorem theorem_4a_any_rank_refuted (R : rcfType) : exists (H : 'M[R]_2) K K',
  [/\ condition_number (augmented H) K,
      condition_number (augmented H *m centring (mean H)) K' & K < K'].
Proof.
pose H : 'M[R]_2 := two_by_two 2 1 (-2) 1.
have mE : mean H = pair 0 1 by rewrite mean_two; congr pair; field.
have CE : centred H (mean H) = two_by_two 2 0 (-2) 0.
  by rewrite mE centred_two; congr two_by_two; ring.
exists H, (Num.sqrt (8 / 4)), (Num.sqrt (8 / 2)); split.
- apply: (@condition_number_attained _ _ _ _ 4 8 (stack 1 (pair 0 1)) (stack 0 (pair 1 0))).
  + by rewrite ltr0n.
  + move=> x; have [t [p [q ->]]] := tripleE x => ox.
    have tq : t = q.
      have := ox (stack 1 (pair 0 (-1))); rewrite dot_triple => z; apply/eqP.
      by rewrite -subr_eq0 -[X in _ == X]z ?null_two //; [apply/eqP| |]; ring.
    rewrite augmented_two sq_triple sq_pair tq; apply/andP; split.
      by apply: (@by_square _ _ _ p 4); ring.
    by apply: (@by_square _ _ _ q 8); ring.
  + by apply: eigenvector_two; rewrite ?oner_neq0 //; ring.
  by apply: eigenvector_two; rewrite ?oner_neq0 ?orbT //; ring.
- rewrite augmented_centring CE -/(augmented _).
  apply: (@condition_number_attained _ _ _ _ 2 8 (stack 1 (pair 0 0)) (stack 0 (pair 1 0))).
  + by rewrite ltr0n.
  + move=> x; have [t [p [q ->]]] := tripleE x => ox.
    have q0 : q = 0.
      have := ox (stack 0 (pair 0 1)); rewrite dot_triple => <-; first by ring.
      by apply: null_two; ring.
    rewrite augmented_two sq_triple sq_pair q0; apply/andP; split.
      by apply: (@by_square _ _ _ p 6); ring.
    by apply: (@by_square _ _ _ t 6); ring.
  + by apply: eigenvector_two; rewrite ?oner_neq0 //; ring.
  by apply: eigenvector_two; rewrite ?oner_neq0 ?orbT //; ring.
rewrite ltr_sqrt ?divr_gt0 ?ltr0n // ltr_pmul2l ?ltr0n //.
by rewrite ltf_pinv ?posrE ?ltr0n // ltr_nat.
Qed.

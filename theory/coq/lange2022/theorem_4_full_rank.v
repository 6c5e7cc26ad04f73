(* Theorem 4 and Lemma A1, the scaling at full rank: factors that they do not have.

     kappa(Ghat)^2 <= (n/2) kappa(Hhat U D_0)^2                       for two to five features,
     kappa(Ghat)^2 <= ((root n - 1)^2 + 5/4) kappa(Hhat U D_0)^2      for any number,

   and the same of kappa(F D) and kappa(F D_0) for columns F D of norm one.  Let G = F D or G, let
   a diag(b) <= G'G <= diag(b), K0^2 = 1/a, after a change of D_0, let l and v be the extreme
   eigenvalues of G'G, of unit eigenvectors u and y, and c the square of every column's norm.  As
   a sum_i b_i y_i^2 <= v it is enough that l <= f sum_i b_i y_i^2.  Taking v off, the numbers

     t_i = (c - v)/(b_i - v),   w_i = (b_i - v) y_i^2 / sum_j (b_j - v) y_j^2,
     r_i = (l - v) u_i^2/(c - v)

   have  t_i + w_i <= 1,  r_i <= 1,  sum_i w_i = 1,  sum_i t_i r_i <= 1,  by vectors at which the
   forms are compared, and the quotient is  P Q = (sum_i w_i t_i) (sum_i r_i).  For every s

     (2s - 1)^2 (1 - r_i) + (2s)^2 t_i r_i >= (2s)^2 w_i (s^2 t_i - (s - 1)^2),

   and the sum over i bounds Q by P; s = root n is the second factor, s = 8/3 the first one where
   P >= 5/8.  Below that the two largest t_i matter: either they leave P <= 1/2, or the other t_i
   are less than what Q lacks. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct ConditionNumber Preconditioning.
From BatchNorm.lange2022 Require Import theorem_4_centring lemma_a1 theorem_4_scaling.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* ---- the numbers ---- *)

Section Numbers.
Variables (R : rcfType) (n : nat) (w t r : 'I_n -> R).
Hypothesis w_ge0 : forall i, 0 <= w i.
Hypothesis t_ge0 : forall i, 0 <= t i.
Hypothesis t_w : forall i, t i + w i <= 1.
Hypothesis r_within : forall i, 0 <= r i <= 1.
Hypothesis sum_w : \sum_i w i = 1.
Hypothesis sum_tr : \sum_i t i * r i <= 1.
Local Notation P := (\sum_i w i * t i).
Local Notation Q := (\sum_i r i).

Lemma P_ge0 : 0 <= P.
Proof. by apply: sumr_ge0 => i _; rewrite mulr_ge0. Qed.
Lemma Q_le : Q <= n%:R.
Proof.
rewrite -[n in n%:R]card_ord -sumr_const; apply: ler_sum => i _.
by have /andP[] := r_within i.
Qed.

Lemma term_bound s i : (2 * s) ^+ 2 * (w i * (s ^+ 2 * t i - (s - 1) ^+ 2)) <=
  (2 * s - 1) ^+ 2 * (1 - r i) + (2 * s) ^+ 2 * (t i * r i).
Proof.
have /andP[r0 r1] := r_within i; set h := s ^+ 2 * t i - (s - 1) ^+ 2.
have s2 : 0 <= (2 * s) ^+ 2 by rewrite sqr_ge0.
have m0 : 0 <= Num.max h 0 by rewrite le_maxr lexx orbT.
apply: le_trans (_ : (2 * s) ^+ 2 * ((1 - t i) * Num.max h 0) <= _).
  rewrite ler_wpmul2l //; apply: le_trans (_ : w i * Num.max h 0 <= _).
    by rewrite ler_wpmul2l // le_maxr lexx.
  by rewrite ler_wpmul2r // ler_subr_addl.
have [h0|h0] := leP h 0.
  by rewrite !mulr0 addr_ge0 //; apply: mulr_ge0; rewrite ?sqr_ge0 ?subr_ge0 ?mulr_ge0.
rewrite -subr_ge0; have -> : (2 * s - 1) ^+ 2 * (1 - r i) + (2 * s) ^+ 2 * (t i * r i) -
    (2 * s) ^+ 2 * ((1 - t i) * h) = (1 - r i) * (s ^+ 2 - 2 * s ^+ 2 * t i + (s - 1) ^+ 2) ^+ 2 +
    r i * (2 * s * (s * t i - (s - 1))) ^+ 2 by rewrite /h; ring.
by rewrite addr_ge0 // mulr_ge0 ?sqr_ge0 ?subr_ge0.
Qed.

(* For every number s. *)
Lemma product_bound s : (2 * s) ^+ 2 * (s ^+ 2 * P - (s - 1) ^+ 2) <=
  (2 * s - 1) ^+ 2 * (n%:R - Q) + (2 * s) ^+ 2.
Proof.
have := ler_sum (index_enum _) (fun i (_ : true) => term_bound s i) => /= bound.
have left : \sum_i (2 * s) ^+ 2 * (w i * (s ^+ 2 * t i - (s - 1) ^+ 2)) =
    (2 * s) ^+ 2 * (s ^+ 2 * P - (s - 1) ^+ 2).
  rewrite -big_distrr /=; congr (_ * _); rewrite -[(s - 1) ^+ 2 in RHS]mul1r -sum_w.
  rewrite big_distrr big_distrl -sumrB /=; apply: eq_bigr => i _; ring.
rewrite left big_split -!big_distrr /= in bound.
apply: le_trans bound _; rewrite sumrB sumr_const card_ord ler_add2l.
by rewrite -[X in _ <= X]mulr1 ler_wpmul2l ?sqr_ge0.
Qed.

Lemma near_root : (1 < n)%N -> P * Q <= n%:R - 2 * Num.sqrt n%:R + 9%:R / 4.
Proof.
move=> n1; set s := Num.sqrt n%:R.
have sE : s ^+ 2 = n%:R by rewrite sqr_sqrtr ?ler0n.
have s98 : 9%:R / 8%:R <= s.
  rewrite -ler_sqr ?nnegrE ?sqrtr_ge0 ?divr_ge0 ?ler0n // sE.
  apply: le_trans (_ : 2 <= _); last by rewrite ler_nat.
  by rewrite expr_div_n ler_pdivr_mulr ?exprn_gt0 ?ltr0n // -!natrX -natrM ler_nat.
have s1 : 0 < 2 * s - 1.
  rewrite subr_gt0; apply: lt_le_trans (_ : 2 * (9%:R / 8%:R) <= _).
    by rewrite mulrA ltr_pdivl_mulr ?ltr0n // mul1r -natrM ltr_nat.
  by rewrite ler_pmul2l ?ltr0n.
rewrite -(ler_pmul2l (exprn_gt0 2 s1)).
have bound := ler_wpmul2l P_ge0 (product_bound s).
pose A := 2 * s ^+ 2 - 3%:R * s + 9%:R / 4.
apply: le_trans (_ : A ^+ 2 <= _); last first.
  rewrite -subr_ge0 -sE.
  have -> : (2 * s - 1) ^+ 2 * (s ^+ 2 - 2 * s + 9%:R / 4) - A ^+ 2 = 5%:R / 2 * (s - 9%:R / 8%:R).
    by rewrite /A; field; rewrite ?pnatr_eq0.
  by rewrite mulr_ge0 ?divr_ge0 ?ler0n ?subr_ge0.
rewrite -subr_ge0; rewrite -subr_ge0 in bound.
have -> : A ^+ 2 - (2 * s - 1) ^+ 2 * (P * Q) = (A - 2 * s ^+ 2 * P) ^+ 2 +
  (P * ((2 * s - 1) ^+ 2 * (n%:R - Q) + (2 * s) ^+ 2) -
   P * ((2 * s) ^+ 2 * (s ^+ 2 * P - (s - 1) ^+ 2))).
  by rewrite -sE /A; field; rewrite ?pnatr_eq0.
by rewrite addr_ge0 ?sqr_ge0.
Qed.

(* Where Q lacks at most one. *)
Lemma two_largest : 1 < 2 * P -> n%:R - Q <= 1 -> 14%:R * P <= 7%:R + (n%:R - Q) ^+ 2.
Proof.
set d := n%:R - Q => P1 d1; have d0 : 0 <= d by rewrite subr_ge0 Q_le.
have [i0 _] : exists i : 'I_n, true.
  case: (posnP n) => [n0|n0]; last by exists (Ordinal n0).
  have := sum_w; rewrite big1 => [/esym/eqP|i]; first by rewrite oner_eq0.
  by exfalso; have := ltn_ord i; rewrite [X in (_ < X)%N]n0.
have [k _ top] := @arg_maxP _ _ _ i0 xpredT t isT.
have rest0 (p : pred 'I_n) (f : 'I_n -> R) : (forall i, 0 <= f i) -> 0 <= \sum_(i | p i) f i.
  by move=> f0; apply: sumr_ge0.
have tk1 : t k <= 1 by apply: le_trans (t_w k); rewrite ler_addl.
have [l lk|none] := pickP (fun i => i != k); last first.
  have := P1; have wk : w k = 1.
    by rewrite -sum_w (bigD1 k) //= big1 ?addr0 // => i; rewrite none.
  rewrite (bigD1 k) //= big1 => [|i]; last by rewrite none.
  have tk : t k = 0.
    by apply/le_anti; rewrite t_ge0 andbT; have := t_w k; rewrite wk -ler_subr_addr subrr.
  by rewrite tk !mulr0 addr0 mulr0 ltr10.
have [j jk next] := @arg_maxP _ _ _ l (fun i => i != k) t lk.
have others (f : 'I_n -> R) : \sum_i f i = f k + (f j + \sum_(i | (i != k) && (i != j)) f i).
  by rewrite (bigD1 k) //= (bigD1 j jk).
set g := t k; set g' := t j; set e := g + g' - 1.
have g0 : 0 <= g by exact: t_ge0.
have g'0 : 0 <= g' by exact: t_ge0.
have gg' : g' <= g by apply: top.
pose W := \sum_(i | (i != k) && (i != j)) w i.
pose T := \sum_(i | (i != k) && (i != j)) t i.
have WE : W = 1 - w k - w j by rewrite -sum_w others -/W; ring.
have W0 : 0 <= W by apply: rest0.
have TE : T <= d * g - e.
  have : \sum_i t i <= 1 + d * g.
    rewrite -ler_subl_addl; apply: le_trans (_ : \sum_i t i * (1 - r i) <= _).
      rewrite ler_subl_addr -ler_subl_addl -sumrB; apply: le_trans sum_tr.
      by apply: ler_sum => i _; rewrite mulrBr mulr1 opprB addrC subrK.
    have -> : d * g = \sum_i g * (1 - r i).
      by rewrite -big_distrr /= sumrB sumr_const card_ord mulrC.
    apply: ler_sum => i _; apply: ler_wpmul2r; last exact: top.
    by rewrite subr_ge0; have /andP[] := r_within i.
  rewrite others -/T -/g -/g' /e -subr_ge0 => h; rewrite -subr_ge0.
  by apply: le_trans h _; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
have bounded m : (forall i, (i != k) && (i != j) -> t i <= m) ->
    P <= w k * g + (w j * g' + W * m).
  move=> high; rewrite others -/g -/g' !ler_add2l /W big_distrl /=.
  by apply: ler_sum => i /high; apply: ler_wpmul2l.
have by_next i : (i != k) && (i != j) -> t i <= g' by move=> /andP[ik _]; apply: next.
have wk1 : w k <= 1 - g by rewrite ler_subr_addl; exact: t_w.
have wj1 : w j <= 1 - g' by rewrite ler_subr_addl; exact: t_w.
have [e0|e0] := leP e 0.
  exfalso; move: P1; apply/negP; rewrite -leNgt.
  have := bounded _ by_next; rewrite WE => h.
  apply: le_trans (_ : 2 * (w k * g + (w j * g' + (1 - w k - w j) * g')) <= _).
    by rewrite ler_pmul2l ?ltr0n.
  rewrite -subr_ge0; have -> : 1 - 2 * (w k * g + (w j * g' + (1 - w k - w j) * g')) =
    2 * ((1 - g - w k) * (g - g')) + 2 * g * (- e) + (2 * g - 1) ^+ 2 by rewrite /e; ring.
  by rewrite !addr_ge0 ?sqr_ge0 // !mulr_ge0 ?subr_ge0 ?oppr_ge0 ?ler0n.
pose m := Num.min g' (d * g - e).
have high i : (i != k) && (i != j) -> t i <= m.
  move=> out; rewrite le_minr by_next //=; apply: le_trans TE.
  by rewrite /T (bigD1 i) //= ler_addl rest0.
have mg' : m <= g' by rewrite le_minl lexx.
have md : m <= d * g - e by rewrite le_minl lexx orbT.
have mg := le_trans mg' gg'.
have := bounded _ high; rewrite WE => h.
apply: le_trans (_ : 14%:R * (w k * g + (w j * g' + (1 - w k - w j) * m)) <= _).
  by rewrite ler_pmul2l ?ltr0n.
rewrite -subr_ge0; pose x := g - g'.
have -> : 7%:R + d ^+ 2 - 14%:R * (w k * g + (w j * g' + (1 - w k - w j) * m)) =
  14%:R * ((1 - g - w k) * (g - m)) + 14%:R * ((1 - g' - w j) * (g' - m)) +
  14%:R * (e * (d * g - e - m)) + (d - 7%:R / 2 * e) ^+ 2 +
  7%:R / 4 * (2 * x - d * e) ^+ 2 + 7%:R / 4 * ((1 - d) * (5%:R + d) * e ^+ 2).
  by rewrite /x /e; field; rewrite ?pnatr_eq0.
have d5 : 0 <= 5%:R + d by rewrite addr_ge0 ?ler0n.
have pos a b : 0 <= a -> 0 <= b -> 0 <= 14%:R * (a * b) by move=> ? ?; rewrite !mulr_ge0 ?ler0n.
have n7 : 0 <= 7%:R / 4 :> R by rewrite divr_ge0 ?ler0n.
have d1' : 0 <= 1 - d by rewrite subr_ge0.
rewrite !addr_ge0 ?sqr_ge0 ?pos ?(ltW e0) ?subr_ge0 //.
  by apply: mulr_ge0 n7 _; apply: sqr_ge0.
by apply: mulr_ge0 n7 _; apply: mulr_ge0 (sqr_ge0 _); apply: mulr_ge0.
Qed.

Lemma half_n : (n <= 5)%N -> 2 * (P * Q) <= n%:R.
Proof.
move=> n5; set p := P; set d := n%:R - Q; have P0 : 0 <= p by exact: P_ge0.
have d0 : 0 <= d by rewrite subr_ge0 Q_le.
have QE : Q = n%:R - d by rewrite opprB addrC subrK.
rewrite QE -subr_ge0.
have -> : n%:R - 2 * (p * (n%:R - d)) = 2 * p * d - n%:R * (2 * p - 1) by ring.
have [p1|p1] := leP (2 * p) 1.
  by rewrite subr_ge0; apply: le_trans (_ : 0 <= _); rewrite ?mulr_ge0 ?ler0n //
    mulr_ge0_le0 ?ler0n ?subr_le0.
have n_le : n%:R * (2 * p - 1) <= 5%:R * (2 * p - 1).
  by rewrite ler_wpmul2r ?ler_nat // subr_ge0 ltW.
rewrite subr_ge0; apply: le_trans n_le _; rewrite -subr_ge0.
have [p58|p58] := leP (5%:R / 8%:R) p.
  have := product_bound (8%:R / 3%:R); rewrite -/p -/d => bound.
  have {}bound : 32%:R * p - 17%:R <= 3%:R * d.
    have k0 : 0 < 256%:R / 9%:R :> R by rewrite divr_gt0 ?ltr0n.
    rewrite -(ler_pmul2l k0) -subr_ge0; rewrite -subr_ge0 in bound.
    have -> : 256%:R / 9%:R * (3%:R * d) - 256%:R / 9%:R * (32%:R * p - 17%:R) =
      9%:R / 2 * ((2 * (8%:R / 3%:R) - 1) ^+ 2 * d + (2 * (8%:R / 3%:R)) ^+ 2 -
      (2 * (8%:R / 3%:R)) ^+ 2 * ((8%:R / 3%:R) ^+ 2 * p - (8%:R / 3%:R - 1) ^+ 2)) +
      5%:R / 6%:R * d.
      by field; rewrite ?pnatr_eq0.
    by rewrite addr_ge0 ?mulr_ge0 ?invr_ge0 ?ler0n.
  have := ler_wpmul2l P0 bound; rewrite -subr_ge0 => h.
  have -> : 2 * p * d - 5%:R * (2 * p - 1) = 2 / 3%:R * (p * (3%:R * d) - p * (32%:R * p - 17%:R)) +
    3%:R^-1 * ((8%:R * p - 5%:R) * (8%:R * p - 3%:R)) by field; rewrite ?pnatr_eq0.
  have p5 : 0 <= 8%:R * p - 5%:R.
    by rewrite subr_ge0; move: p58; rewrite ler_pdivr_mulr ?ltr0n // mulrC.
  have p3 : 0 <= 8%:R * p - 3%:R.
    by apply: le_trans p5 _; rewrite ler_add2l ler_opp2 ler_nat.
  by rewrite addr_ge0 // !mulr_ge0 // ?invr_ge0 ?ler0n.
have [d1|d1] := leP d 1.
  have := two_largest p1 d1; rewrite -/p -/d -subr_ge0 => h.
  have -> : 2 * p * d - 5%:R * (2 * p - 1) = d * (2 * p - 1) +
    5%:R / 7%:R * (7%:R + d ^+ 2 - 14%:R * p) + d * (2 / 7%:R + 5%:R / 7%:R * (1 - d)).
    by field; rewrite ?pnatr_eq0.
  rewrite !addr_ge0 //; first by rewrite mulr_ge0 // subr_ge0 ltW.
    by rewrite mulr_ge0 ?mulr_ge0 ?invr_ge0 ?ler0n.
  by rewrite mulr_ge0 // addr_ge0 // ?mulr_ge0 ?mulr_ge0 ?invr_ge0 ?ler0n ?subr_ge0.
have -> : 2 * p * d - 5%:R * (2 * p - 1) = 2 * (p * (d - 1)) + (5%:R - 8%:R * p) by ring.
rewrite addr_ge0 ?mulr_ge0 ?ler0n ?subr_ge0 ?(ltW d1) //.
by move: p58; rewrite ltr_pdivl_mulr ?ltr0n // mulrC => /ltW.
Qed.
End Numbers.

(* ---- columns of one norm, below a diagonal form ---- *)

Section Columns.
Variables (R : rcfType) (N n : nat) (G : 'M[R]_(N, n)) (c : R) (b : 'I_n -> R).
Hypothesis equal : forall i, sq (col i G) = c.
Hypothesis below : forall z : 'cV_n, sq (G *m z) <= \sum_i b i * z i 0 ^+ 2.
Variables (l v : R) (u y : 'cV[R]_n).
Hypothesis u_largest : G^T *m G *m u = l *: u.
Hypothesis y_smallest : G^T *m G *m y = v *: y.
Hypothesis above_v : forall z : 'cV_n, v * sq z <= sq (G *m z).
Hypothesis u1 : sq u = 1.
Hypothesis y1 : sq y = 1.

(* G'G less its smallest eigenvalue, as a form. *)
Definition rest (z : 'cV[R]_n) := sq (G *m z) - v * sq z.

Lemma rest_ge0 z : 0 <= rest z.
Proof. by rewrite subr_ge0. Qed.

Lemma rest_shift (z : 'cV[R]_n) k :
  rest (z - k *: u) = rest z - 2 * k * (l - v) * dot z u + k ^+ 2 * (l - v).
Proof.
rewrite /rest mulmxBr -scalemxAr !sqB !sqZ !dotZr u1.
have -> : dot (G *m z) (G *m u) = l * dot z u by rewrite dot_mul mulmxA u_largest dotZr.
have -> : sq (G *m u) = l by rewrite sq_mul u_largest dotZr -/(sq u) u1 mulr1.
by ring.
Qed.

Lemma rest_along_u z : (l - v) * dot z u ^+ 2 <= rest z.
Proof.
have := rest_ge0 (z - dot z u *: u); rewrite rest_shift -subr_ge0 subr0 => h.
rewrite -subr_ge0; apply: le_trans h _; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

Lemma rest_along_y (z : 'cV[R]_n) k m : rest (k *: z + m *: y) = k ^+ 2 * rest z.
Proof.
rewrite /rest mulmxDr -!scalemxAr !sqD !sqZ !dotZl !dotZr y1.
have -> : dot (G *m z) (G *m y) = v * dot z y by rewrite dot_mul mulmxA y_smallest dotZr.
have -> : sq (G *m y) = v by rewrite sq_mul y_smallest dotZr -/(sq y) y1 mulr1.
by move: (sq (G *m z)) (sq z) (dot z y) => p q s; ring.
Qed.

Lemma rest_unit i : rest (delta_mx i 0) = c - v.
Proof. by rewrite /rest -colE equal sq_delta mulr1. Qed.

Lemma v_ge0 : 0 <= v.
Proof. by rewrite -[v]mulr1 -y1 -dotZr -y_smallest gram_form sq_ge0. Qed.
Lemma c_le i : c <= b i.
Proof.
have := below (delta_mx i 0); rewrite -colE equal (bigD1 i) //= big1 => [|j ji].
  by rewrite mxE !eqxx expr1n mulr1 addr0.
by rewrite mxE (negbTE ji) expr0n mulr0.
Qed.
Lemma v_le : v <= c.
Proof.
case: (posnP n) => [n0|n0]; last first.
  by rewrite -subr_ge0 -(rest_unit (Ordinal n0)) rest_ge0.
have := y1; rewrite sq_column big1 => [/esym/eqP|i]; first by rewrite oner_eq0.
by exfalso; have := ltn_ord i; rewrite [X in (_ < X)%N]n0.
Qed.
Lemma v_le_l : v <= l.
Proof. by have := above_v u; rewrite sq_mul u_largest dotZr -/(sq u) u1 !mulr1. Qed.

Definition free i := b i - v.
Definition total := \sum_i free i * y i 0 ^+ 2.

Lemma rest_below z : rest z <= \sum_i free i * z i 0 ^+ 2.
Proof.
have -> : \sum_i free i * z i 0 ^+ 2 = \sum_i b i * z i 0 ^+ 2 - v * sq z.
  by rewrite sq_column big_distrr -sumrB /=; apply: eq_bigr => i _; rewrite mulrBl.
by rewrite ler_sub.
Qed.

Variable factor : R.
Hypothesis factor1 : 1 <= factor.
Hypothesis numbers : forall w t r : 'I_n -> R, (forall i, 0 <= w i) -> (forall i, 0 <= t i) ->
  (forall i, t i + w i <= 1) -> (forall i, 0 <= r i <= 1) -> \sum_i w i = 1 ->
  \sum_i t i * r i <= 1 -> (\sum_i w i * t i) * (\sum_i r i) <= factor.

Lemma largest_below : l <= factor * \sum_i b i * y i 0 ^+ 2.
Proof.
have bE : \sum_i b i * y i 0 ^+ 2 = total + v.
  rewrite -[v]mulr1 -y1 sq_column big_distrr -big_split /=; apply: eq_bigr => i _.
  by rewrite /free mulrBl subrK.
have l0 : 0 <= l - v by rewrite subr_ge0 v_le_l.
have T0 : 0 <= total.
  by apply: le_trans (rest_below y); apply: rest_ge0.
have ui i : (l - v) * u i 0 ^+ 2 <= c - v.
  by have := rest_along_u (delta_mx i 0); rewrite rest_unit dotC dot_delta.
rewrite bE mulrDr; apply: le_trans (_ : (l - v) + v <= _); first by rewrite subrK.
apply: ler_add; last by rewrite ler_pemull // v_ge0.
have [cv|cv] := eqVneq c v.
  have -> : l - v = \sum_i (l - v) * u i 0 ^+ 2 by rewrite -big_distrr /= -sq_column u1 mulr1.
  apply: le_trans (_ : 0 <= _); last by rewrite mulr_ge0 // (le_trans ler01).
  rewrite -oppr_ge0 -sumrN; apply: sumr_ge0 => i _.
  by have := ui i; rewrite cv subrr oppr_ge0.
have th : 0 < c - v by rewrite subr_gt0 lt_neqAle eq_sym cv v_le.
have f0 i : 0 < free i by apply: lt_le_trans th _; rewrite ler_add2r c_le.
have T1 : 0 < total.
  apply: lt_le_trans th _; rewrite -[c - v]mulr1 -y1 sq_column big_distrr /=.
  by apply: ler_sum => i _; rewrite ler_wpmul2r ?sqr_ge0 // ler_add2r c_le.
have := numbers (w := fun i => free i * y i 0 ^+ 2 / total) (t := fun i => (c - v) / free i)
  (r := fun i => (l - v) * u i 0 ^+ 2 / (c - v)).
have -> : \sum_i free i * y i 0 ^+ 2 / total * ((c - v) / free i) = (c - v) / total.
  have -> : (c - v) / total = (c - v) / total * sq y by rewrite y1 mulr1.
  rewrite sq_column big_distrr /=; apply: eq_bigr => i _; field.
  by rewrite (gt_eqF (f0 i)) (gt_eqF T1).
have -> : \sum_i (l - v) * u i 0 ^+ 2 / (c - v) = (l - v) / (c - v).
  by rewrite -big_distrl -big_distrr /= -sq_column u1 mulr1.
have -> : (c - v) / total * ((l - v) / (c - v)) = (l - v) / total.
  by field; rewrite (gt_eqF th) (gt_eqF T1).
rewrite ler_pdivr_mulr //; apply=> [i|i|i|i||].
- by rewrite divr_ge0 // mulr_ge0 ?sqr_ge0 ?ltW.
- by rewrite divr_ge0 ?ltW.
- set s := free i * y i 0; have := rest_below (total *: delta_mx i 0 + (- s) *: y).
  rewrite rest_along_y rest_unit.
  have -> : \sum_j free j * (total *: delta_mx i 0 + (- s) *: y) j 0 ^+ 2 =
      total ^+ 2 * free i - 2 * total * s * s + s ^+ 2 * total.
    have -> : s ^+ 2 * total = \sum_j s ^+ 2 * (free j * y j 0 ^+ 2) by rewrite -big_distrr.
    have -> : total ^+ 2 * free i - 2 * total * s * s = \sum_j
        (total ^+ 2 * free j - 2 * total * s * (free j * y j 0)) * (j == i)%:R.
      rewrite (bigD1 i) //= eqxx mulr1 big1 ?addr0 // => j ji.
      by rewrite (negbTE ji) mulr0.
    rewrite -big_split; apply: eq_bigr => j _ /=; rewrite !mxE eqxx andbT.
    by case: (j == i) => /=; ring.
  rewrite -subr_ge0 => h; rewrite -subr_ge0 -(pmulr_rge0 _ (mulr_gt0 (exprn_gt0 2 T1) (f0 i))).
  apply: le_trans h _; rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite /s; field.
  by rewrite (gt_eqF T1) (gt_eqF (f0 i)).
- apply/andP; split; first by rewrite divr_ge0 ?(ltW th) // mulr_ge0 ?sqr_ge0.
  by rewrite ler_pdivr_mulr // mul1r ui.
- by rewrite -big_distrl /= mulfV // gt_eqF.
pose z : 'cV[R]_n := \col_i (u i 0 / free i); pose S := \sum_i u i 0 ^+ 2 / free i.
have S0 : 0 <= S by apply: sumr_ge0 => i _; rewrite divr_ge0 ?sqr_ge0 ?ltW.
have -> : \sum_i (c - v) / free i * ((l - v) * u i 0 ^+ 2 / (c - v)) = (l - v) * S.
  rewrite big_distrr /=; apply: eq_bigr => i _; field.
  by rewrite (gt_eqF th) (gt_eqF (f0 i)).
have zu : dot z u = S.
  by rewrite dot_column; apply: eq_bigr => i _; rewrite mxE mulrAC -expr2.
have zS : \sum_i free i * z i 0 ^+ 2 = S.
  by apply: eq_bigr => i _; rewrite mxE; field; rewrite (gt_eqF (f0 i)).
have := le_trans (rest_along_u z) (rest_below z); rewrite zu zS => h.
have [->|Sp] := eqVneq S 0; first by rewrite mulr0 ler01.
have {}Sp : 0 < S by rewrite lt_def Sp.
by rewrite -(ler_pmul2r Sp) mul1r -mulrA -expr2.
Qed.
End Columns.

(* ---- the same for condition numbers ---- *)

Lemma unit_eigenvector (R : rcfType) n (A : 'M[R]_n) l x : eigenvector A l x ->
  exists2 z : 'cV_n, A *m z = l *: z & sq z = 1.
Proof.
move=> [x0 Ax]; have q : 0 < sq x by rewrite sq_gt0.
exists ((Num.sqrt (sq x))^-1 *: x); first by rewrite -scalemxAr Ax !scalerA mulrC.
by rewrite sqZ exprVn sqr_sqrtr ?ltW // mulVf // gt_eqF.
Qed.

Section FullRank.
Variables (R : rcfType) (m n : nat) (F : 'M[R]_(m, n)) (d d0 : 'rV[R]_n) (c K K0 : R).
Hypothesis full : full_column_rank F.
Hypothesis d_neq0 : nonzero d.
Hypothesis d0_neq0 : nonzero d0.
Hypothesis equal : forall i, d 0 i ^+ 2 * sq (col i F) = c.
Hypothesis equal_K : condition_number (F *m diag_mx d) K.
Hypothesis other_K : condition_number (F *m diag_mx d0) K0.
Local Notation G := (F *m diag_mx d).

Lemma diagonal_injective (f : 'rV[R]_n) (x : 'cV_n) :
  nonzero f -> F *m diag_mx f *m x = 0 -> x = 0.
Proof.
move=> f0; rewrite -mulmxA => z; have {}z := (full_column_rankP F).1 full _ z.
apply/matrixP => i j; rewrite !ord1 [RHS]mxE.
by apply: (mulfI (f0 i)); rewrite -diag_mul z mxE mulr0.
Qed.

Definition scaled (z : 'cV[R]_n) : 'cV[R]_n := diag_mx (quotient d d0) *m z.
Lemma mul_scaled z : F *m diag_mx d0 *m scaled z = G *m z.
Proof. by rewrite /scaled -!mulmxA quotientE. Qed.
Lemma sq_scaled z : sq (scaled z) = \sum_i (d 0 i / d0 0 i) ^+ 2 * z i 0 ^+ 2.
Proof. by rewrite sq_column; apply: eq_bigr => i _; rewrite diag_mul mxE exprMn. Qed.

Variable factor : R.
Hypothesis factor1 : 1 <= factor.
Hypothesis numbers : forall w t r : 'I_n -> R, (forall i, 0 <= w i) -> (forall i, 0 <= t i) ->
  (forall i, t i + w i <= 1) -> (forall i, 0 <= r i <= 1) -> \sum_i w i = 1 ->
  \sum_i t i * r i <= 1 -> (\sum_i w i * t i) * (\sum_i r i) <= factor.

Lemma scaled_at_full_rank : K ^+ 2 <= factor * K0 ^+ 2.
Proof.
have [s [t [S T ->]]] := equal_K; have [[_ [x ex]] _] := S; have [[_ [x' ex']] t0 _] := T.
have [u Gu u1] := unit_eigenvector ex; have [y Gy y1] := unit_eigenvector ex'.
have t2 : 0 < t ^+ 2 by rewrite exprn_gt0.
have above (z : 'cV_n) : t ^+ 2 * sq z <= sq (G *m z).
  have orthogonal : orthogonal_to_null G z.
    by move=> w /(diagonal_injective d_neq0) ->; rewrite dot0r.
  by have /andP[] := quotients_of_singular_values S T orthogonal.
have [a [b [a0 b0 bE within]]] := condition_number_quotients other_K.
have between (z : 'cV_n) : a * sq (scaled z) <= sq (G *m z) <= b * sq (scaled z).
  rewrite -mul_scaled; apply: within => w /(diagonal_injective d0_neq0) ->.
  by rewrite dot0r.
have equal' i : sq (col i G) = c.
  rewrite -(equal i) -sqZ; congr sq; apply/matrixP => j k; rewrite mul_mx_diag !mxE.
  exact: mulrC.
have below (z : 'cV_n) : sq (G *m z) <= \sum_i b * (d 0 i / d0 0 i) ^+ 2 * z i 0 ^+ 2.
  have /andP[_] := between z; rewrite sq_scaled big_distrr /=.
  by under eq_bigr do rewrite mulrA.
have := largest_below equal' below Gu Gy above u1 y1 factor1 numbers.
rewrite expr_div_n ler_pdivr_mulr // => h; apply: le_trans h _.
rewrite -mulrA ler_wpmul2l //; first exact: le_trans ler01 factor1.
have /andP[h _] := between y; rewrite [sq (G *m y)]sq_mul Gy dotZr -/(sq y) y1 mulr1 in h.
have -> : \sum_i b * (d 0 i / d0 0 i) ^+ 2 * y i 0 ^+ 2 = K0 ^+ 2 * (a * sq (scaled y)).
  rewrite sq_scaled mulrA -bE big_distrr /=; apply: eq_bigr => i _.
  by rewrite mulrA.
by rewrite ler_wpmul2l ?sqr_ge0.
Qed.
End FullRank.

Lemma near_root_bound (R : rcfType) m n (F : 'M[R]_(m, n)) (d d0 : 'rV[R]_n) c K K0 :
  0 < c -> full_column_rank F -> nonzero d0 -> (forall i, d 0 i ^+ 2 * sq (col i F) = c) ->
  condition_number (F *m diag_mx d) K -> condition_number (F *m diag_mx d0) K0 ->
  K ^+ 2 <= ((Num.sqrt n%:R - 1) ^+ 2 + 5%:R / 4) * K0 ^+ 2.
Proof.
move=> c0 full nz equal kK k0; set s : R := Num.sqrt n%:R; have nz' := d_neq0 c0 equal.
have factor1 : 1 <= (s - 1) ^+ 2 + 5%:R / 4.
  apply: le_trans (_ : 5%:R / 4 <= _); last by rewrite ler_addr sqr_ge0.
  by rewrite ler_pdivl_mulr ?ltr0n // mul1r ler_nat.
have K0p := ltW (condition_number_gt0 k0); have Kp := ltW (condition_number_gt0 kK).
have [n1|n2] := leqP n 1.
  apply: le_trans (_ : K0 ^+ 2 <= _); last by rewrite ler_pemull ?sqr_ge0.
  rewrite ler_sqr ?nnegrE //.
  exact: (property_A_optimal c0 equal nz full (two_columns_property_A F (leqW n1)) kK k0).
apply: (scaled_at_full_rank full nz' nz equal kK k0 factor1) => w t r w0 t0 tw r01 w1 tr.
have := near_root w0 t0 tw r01 w1 tr n2; rewrite -/s; congr (_ <= _).
have <- : s ^+ 2 = n%:R by rewrite sqr_sqrtr ?ler0n.
by field; rewrite ?pnatr_eq0.
Qed.

Lemma half_n_bound (R : rcfType) m n (F : 'M[R]_(m, n)) (d d0 : 'rV[R]_n) c K K0 :
  0 < c -> (2 <= n)%N -> (n <= 5)%N -> full_column_rank F -> nonzero d0 ->
  (forall i, d 0 i ^+ 2 * sq (col i F) = c) ->
  condition_number (F *m diag_mx d) K -> condition_number (F *m diag_mx d0) K0 ->
  2 * K ^+ 2 <= n%:R * K0 ^+ 2.
Proof.
move=> c0 n2 n5 full nz equal kK k0; have two : 0 < 2 :> R by rewrite ltr0n.
have half : 1 <= n%:R / 2 :> R by rewrite ler_pdivl_mulr // mul1r ler_nat.
rewrite mulrC -ler_pdivl_mulr // mulrAC.
apply: (scaled_at_full_rank full (d_neq0 c0 equal) nz equal kK k0 half).
move=> w t r w0 t0 tw r01 w1 tr.
by rewrite ler_pdivl_mulr // mulrC (half_n w0 t0 tw r01 w1 tr).
Qed.

(* ---- a layer: the column of ones is not counted ---- *)

Section Layer.
Variables (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) (d0 : 'rV[R]_(1 + n)) (K K0 : R).
Hypothesis N_gt0 : (0 < N)%N.
Hypothesis n_gt0 : (0 < n)%N.
Hypothesis full : full_column_rank (augmented H).
Hypothesis nz : nonzero d0.
Hypothesis normalized_K : condition_number (own_normalized H) K.
Hypothesis other_K : condition_number (augmented H *m own_centring H *m diag_mx d0) K0.
Local Notation C := (centred H (mean H)).
Local Notation inverse := (\row_k (deviation H k 0)^-1).
Local Notation right := (rsubmx d0).

Lemma centred_full_rank : full_column_rank C.
Proof. by apply/full_column_rankP => x /(full_rank_centred full). Qed.
Lemma right_neq0 : nonzero right.
Proof. by move=> i; rewrite mxE. Qed.
Lemma features_equal i : inverse 0 i ^+ 2 * sq (col i C) = N%:R.
Proof.
have spread := full_rank_spread N_gt0 full; have := sq_feature N_gt0 spread i.
rewrite /own_features features_centred -mulmxA.
have -> : diag_mx inverse *m (delta_mx i 0 : 'cV_n) = inverse 0 i *: delta_mx i 0.
  apply/matrixP => j k; rewrite !ord1 diag_mul !mxE eqxx andbT.
  by case: eqP => [->|_]; rewrite ?mulr1 // !mulr0.
by rewrite -scalemxAr sqZ -colE.
Qed.
Lemma features_K : condition_number (C *m diag_mx inverse) K.
Proof.
have spread := full_rank_spread N_gt0 full.
have [|L] := @condition_number_exists _ _ _ (own_features H).
  apply/eqP => z; have := sq_feature N_gt0 spread (Ordinal n_gt0).
  by rewrite z mul0mx sq0 => /esym/eqP; rewrite (negbTE (NR_neq0 R N_gt0)).
move=> kL; have := kL; rewrite (same_without_bias N_gt0 full normalized_K kL).
by rewrite /own_features features_centred.
Qed.

Lemma right_part (x : 'cV_n) :
  augmented H *m own_centring H *m diag_mx d0 *m stack 0 x = C *m diag_mx right *m x.
Proof.
have -> : augmented H *m own_centring H *m diag_mx d0 *m stack 0 x =
    augmented H *m own_centring H *m stack 0 (diag_mx right *m x).
  rewrite -mulmxA; congr (_ *m _); apply/matrixP => i j; rewrite !ord1 diag_mul.
  case: (split_ordP i) => k ->; first by rewrite !col_mxEu raddf0 !mxE mulr0.
  by rewrite !col_mxEd diag_mul [in RHS]mxE.
by rewrite augmented_centring /stack mul_row_col raddf0 mulmx0 add0r mulmxA.
Qed.

Lemma right_K : exists2 L, condition_number (C *m diag_mx right) L & L ^+ 2 <= K0 ^+ 2.
Proof.
have [|L kL] := @condition_number_exists _ _ _ (C *m diag_mx right).
  apply/eqP => z; pose x : 'cV[R]_n := delta_mx (Ordinal n_gt0) 0.
  have := diagonal_injective centred_full_rank right_neq0 (x := x).
  rewrite z mul0mx => /(_ erefl) /matrixP/(_ (Ordinal n_gt0) 0)/eqP.
  by rewrite !mxE !eqxx oner_eq0.
exists L => //; have [a [b [a0 b0 bE within]]] := condition_number_quotients other_K.
rewrite -(ler_pmul2r a0) -bE; apply: (condition_number_le kL a0) => x _.
rewrite -right_part -[sq x](_ : sq (stack 0 x) = _); last by rewrite sq_stack expr0n add0r.
apply: within => z /(diagonal_injective (full_rank_centring N_gt0 full) nz) ->.
by rewrite dot0r.
Qed.
End Layer.

(* Half the number of features is enough for up to five of them, *)
Theorem theorem_4c_half_n (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) d0 K K0 :
  let Hhat := augmented H in let U := own_centring H in let Ghat := own_normalized H in
  (0 < N)%N -> (2 <= n)%N -> (n <= 5)%N -> full_column_rank Hhat -> nonzero d0 ->
  condition_number Ghat K -> condition_number (Hhat *m U *m diag_mx d0) K0 ->
  2 * K ^+ 2 <= n%:R * K0 ^+ 2.
Proof.
move=> Hhat U Ghat N0 n2 n5 full nz kK k0; have n0 := ltnW n2.
have [L kL Lle] := right_K N0 n0 full nz k0.
apply: le_trans (ler_wpmul2l (ler0n _ _) Lle).
exact: (half_n_bound (NR_gt0 R N0) n2 n5 (centred_full_rank full) (right_neq0 nz)
  (features_equal N0 full) (features_K N0 n0 full kK) kL).
Qed.

(* and for any number a quarter more than what is attained in the limit where n is a square. *)
Theorem theorem_4c_near_root (R : rcfType) (N n : nat) (H : 'M[R]_(N, n)) d0 K K0 :
  let Hhat := augmented H in let U := own_centring H in let Ghat := own_normalized H in
  (0 < N)%N -> (0 < n)%N -> full_column_rank Hhat -> nonzero d0 ->
  condition_number Ghat K -> condition_number (Hhat *m U *m diag_mx d0) K0 ->
  K ^+ 2 <= ((Num.sqrt n%:R - 1) ^+ 2 + 5%:R / 4) * K0 ^+ 2.
Proof.
move=> Hhat U Ghat N0 n0 full nz kK k0; have [L kL Lle] := right_K N0 n0 full nz k0.
have := near_root_bound (NR_gt0 R N0) (centred_full_rank full) (right_neq0 nz)
  (features_equal N0 full) (features_K N0 n0 full kK) kL.
move/le_trans; apply; rewrite ler_wpmul2l // addr_ge0 ?sqr_ge0 //.
by rewrite divr_ge0 ?ler0n.
Qed.

(* Lemma A1 at full rank: columns of norm one, against any nonsingular diagonal D_0. *)
Theorem lemma_A1_near_root (R : rcfType) m n (F : 'M[R]_(m, n)) (d0 : 'rV[R]_n) K K0 :
  let D := diag_mx (unit_columns F) in let D0 := diag_mx d0 in
  full_column_rank F -> nonzero d0 ->
  condition_number (F *m D) K -> condition_number (F *m D0) K0 ->
  K ^+ 2 <= ((Num.sqrt n%:R - 1) ^+ 2 + 5%:R / 4) * K0 ^+ 2.
Proof.
move=> D D0 full nz; apply: (near_root_bound ltr01 full nz) => i.
by apply: unit_columns_norm => j; apply: full_rank_columns.
Qed.

Theorem lemma_A1_half_n (R : rcfType) m n (F : 'M[R]_(m, n)) (d0 : 'rV[R]_n) K K0 :
  let D := diag_mx (unit_columns F) in let D0 := diag_mx d0 in
  (2 <= n)%N -> (n <= 5)%N -> full_column_rank F -> nonzero d0 ->
  condition_number (F *m D) K -> condition_number (F *m D0) K0 ->
  2 * K ^+ 2 <= n%:R * K0 ^+ 2.
Proof.
move=> D D0 n2 n5 full nz; apply: (half_n_bound ltr01 n2 n5 full nz) => i.
by apply: unit_columns_norm => j; apply: full_rank_columns.
Qed.

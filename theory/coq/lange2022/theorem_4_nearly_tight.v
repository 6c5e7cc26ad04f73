(* Theorem 4: at full rank the factor root n of the scaling is nearly attained.

   The inputs A are plus and minus the unit vectors e_i and k - 1 orthogonal contrasts

     w_1 = t_1 (e_1 - e_2) + s (e_{k+1} + ... + e_n),   w_j = t_j (e_1 + ... + e_j - j e_{j+1}),

   with t_j^2 j (j + 1) near (4 n s)^2 for all j.  Before the scaling |A x|^2 lies between 2 |x|^2
   and 2 (1 + max |w_j|^2) |x|^2.  After it the ones of the first k features, which meet no
   contrast, have a small quotient, and w_1 divided by the squares of the columns has a large one.

   Below, j and i are counted from 0. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct ConditionNumber.
From BatchNorm.lange2022 Require Import lemma_a1.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Definitions.
Variables (R : rcfType) (n k : nat) (t : nat -> R) (s : R).

(* The entry of e_i in the contrast of number j. *)
Definition contrast (j i : nat) : R :=
  if (i <= j)%N then t j else if i == j.+1 then - (j.+1%:R * t j)
  else if (j == 0%N) && (k <= i)%N then s else 0.
Definition contrasts : 'M[R]_(k.-1, n) := \matrix_(j, i) contrast j i.
Definition half_inputs : 'M[R]_(n + k.-1, n) := col_mx 1%:M contrasts.
Definition contrasting : 'M[R]_(n + k.-1 + (n + k.-1), n) := col_mx half_inputs (- half_inputs).
End Definitions.

Section Sums.
Variables (R : rcfType) (n k : nat) (t : nat -> R) (s : R).
Local Notation w := (contrast k t s).

(* A sum over a contrast's entries: the equal ones, the last, and the small ones. *)
Lemma contrast_sum (f : R -> nat -> R) j : (forall i, f 0 i = 0) -> (j.+1 < k <= n)%N ->
  \sum_(i < n) f (w j i) i = \sum_(i < j.+1) f (t j) i + f (- (j.+1%:R * t j)) j.+1
    + (if j == 0%N then \sum_(k <= i < n) f s i else 0).
Proof.
move=> f0 /andP[jk kn]; have jn : (j.+1 < n)%N := leq_trans jk kn.
rewrite -(big_mkord xpredT (fun i => f (w j i) i)) (@big_cat_nat _ _ _ j.+1) //=; last exact: ltnW.
rewrite -(big_mkord xpredT (fun i => f (t j) i)) -addrA; congr (_ + _).
  by apply: eq_big_nat => i /andP[_ ij]; rewrite /contrast -ltnS ij.
rewrite big_ltn // {1}/contrast ltnn eqxx; congr (_ + _).
rewrite (@big_cat_nat _ _ _ k) //= big_nat big1 => [|i /andP[ji ik]]; last first.
  rewrite /contrast leqNgt (ltn_trans _ ji) //= gtn_eqF // (leqNgt k) ik andbF; exact: f0.
rewrite add0r; case: eqP => [j0|j0]; last first.
  rewrite big_nat big1 // => i /andP[ki _]; have ji := leq_trans jk ki.
  by rewrite /contrast leqNgt (ltn_trans _ ji) //= gtn_eqF //; case: eqP j0.
apply: eq_big_nat => i /andP[ki _]; have ji := leq_trans jk ki.
by rewrite /contrast leqNgt (ltn_trans _ ji) //= gtn_eqF // j0 ki.
Qed.
End Sums.

Section Inputs.
Variables (R : rcfType) (n k : nat) (t : nat -> R) (s : R).
Hypothesis kn : (2 <= k <= n)%N.
Local Notation w := (contrast k t s).
Local Notation W := (contrasts n k t s).
Local Notation A := (contrasting n k t s).
Let k_gt1 : (1 < k)%N. Proof. by case/andP: kn. Qed.
Let k_le_n : (k <= n)%N. Proof. by case/andP: kn. Qed.

Lemma contrast_index (j : 'I_k.-1) : (j.+1 < k <= n)%N.
Proof. by have := ltn_ord j; rewrite k_le_n andbT -ltnS (ltn_predK k_gt1). Qed.

Lemma first : (0 < k.-1)%N.
Proof. by rewrite -ltnS (ltn_predK k_gt1). Qed.

Definition column (g : nat -> R) : 'cV[R]_n := \col_i g i.

Lemma contrasts_mul (g : nat -> R) (j : 'I_k.-1) : (W *m column g) j 0 =
  t j * (\sum_(i < j.+1) g i) - j.+1%:R * t j * g j.+1
    + (if j == 0%N :> nat then s * \sum_(k <= i < n) g i else 0).
Proof.
have := @contrast_sum R n k t s (fun v i => v * g i) j (fun i => mul0r _) (contrast_index j).
rewrite /= mulNr -!big_distrr /= => E; apply: etrans E; rewrite mxE; apply: eq_bigr => i _.
by rewrite !mxE.
Qed.

Definition norm_of_contrast (j : nat) : R := t j ^+ 2 * (j.+1 * j.+2)%:R
  + (if j == 0%N then s ^+ 2 * (n - k)%:R else 0).

Lemma contrasts_orthogonal : W *m W^T = diag_mx (\row_j norm_of_contrast j).
Proof.
have entry (j l : 'I_k.-1) : (W *m W^T) j l = \sum_(i < n) w j i * w l i.
  by rewrite mxE; apply: eq_bigr => i _; rewrite !mxE.
have apart (j l : 'I_k.-1) : (j < l)%N -> (W *m W^T) j l = 0.
  move=> jl; rewrite entry.
  rewrite (@contrast_sum R n k t s (fun v i => v * w l i)) ?contrast_index // => [|i].
    2: exact: mul0r.
  have early i : (i <= j.+1)%N -> w l i = t l.
    by move=> ij; rewrite /contrast (leq_trans ij jl).
  rewrite (eq_bigr (fun=> t j * t l)) => [|i _]; last by rewrite early // ltnW.
  rewrite sumr_const card_ord early // -mulr_natl mulNr -mulrA subrr add0r.
  case: eqP => // _; rewrite big_nat big1 // => i /andP[ki _].
  have /andP[lk _] := contrast_index l; have li := leq_trans lk ki.
  rewrite /contrast leqNgt (ltn_trans _ li) //= gtn_eqF //.
  by rewrite gtn_eqF ?mulr0 // (leq_ltn_trans _ jl).
apply/matrixP => j l; rewrite [RHS]mxE; case: (ltngtP j l) => [jl|lj|/val_inj ->].
- by rewrite apart // -val_eqE /= ltn_eqF.
- have -> : (W *m W^T) j l = (W *m W^T) l j.
    by rewrite !entry; apply: eq_bigr => i _; rewrite mulrC.
  by rewrite apart // -val_eqE /= gtn_eqF.
rewrite eqxx mulr1n [RHS]mxE entry.
rewrite (@contrast_sum R n k t s (fun v i => v * v)) ?contrast_index // => [|i].
  rewrite sumr_const card_ord sumr_const_nat /norm_of_contrast; congr (_ + _); last first.
    by case: eqP => // _; rewrite mulr_natr -expr2.
  rewrite -[_ * _ *+ l.+1]mulr_natl natrM [l.+2%:R]mulrSr.
  have id (a b : R) : a * (b * b) + - (a * b) * - (a * b) = b ^+ 2 * (a * (a + 1)) by ring.
  exact: id.
exact: mul0r.
Qed.

Lemma contrasts_bound B : (forall j : 'I_k.-1, norm_of_contrast j <= B) ->
  forall x : 'cV_n, sq (W *m x) <= B * sq x.
Proof.
move=> bound x; set y := W *m x; have transposed : sq (W^T *m y) <= B * sq y.
  rewrite sq_mul trmxK contrasts_orthogonal dot_column (sq_column y) big_distrr /=.
  apply: ler_sum => j _; rewrite mul_diag_mx !mxE mulrCA -expr2 ler_wpmul2r ?sqr_ge0 //.
have [yz|y0] := eqVneq (sq y) 0.
  rewrite yz mulr_ge0 ?sq_ge0 //; apply: le_trans (bound (Ordinal first)).
  rewrite /norm_of_contrast addr_ge0 ?(mulr_ge0 (sqr_ge0 _) (ler0n _ _)) //.
have yp : 0 < sq y by rewrite lt_def y0 sq_ge0.
rewrite -(ler_pmul2l yp); apply: le_trans (_ : dot x (W^T *m y) ^+ 2 <= _).
  by rewrite -dot_mul -/y -/(sq y) expr2.
apply: le_trans (cauchy_schwarz _ _) _.
have -> : sq y * (B * sq x) = sq x * (B * sq y) by ring.
by rewrite ler_wpmul2l ?sq_ge0.
Qed.

Lemma sq_inputs (x : 'cV_n) : sq (A *m x) = 2 * (sq x + sq (W *m x)).
Proof.
rewrite /contrasting mul_col_mx mulNmx sq_col_mx sqN /half_inputs mul_col_mx mul1mx sq_col_mx.
by rewrite mulr_natl mulr2n.
Qed.

Lemma inputs_injective : full_column_rank A.
Proof.
apply/full_column_rankP => x /eqP; rewrite -sq_eq0 sq_inputs mulf_eq0 pnatr_eq0 /=.
by rewrite paddr_eq0 ?sq_ge0 // sq_eq0 => /andP[/eqP].
Qed.

Lemma columns_sum (h : nat -> R) : \sum_(i < n) h i * sq (col i A) = 2 * (\sum_(i < n) h i
  + \sum_(j < k.-1) (t j ^+ 2 * (\sum_(i < j.+1) h i + j.+1%:R ^+ 2 * h j.+1)
    + (if j == 0%N :> nat then s ^+ 2 * \sum_(k <= i < n) h i else 0))).
Proof.
have -> : \sum_(i < n) h i * sq (col i A) =
    \sum_(i < n) 2 * (h i + \sum_(j < k.-1) w j i ^+ 2 * h i).
  apply: eq_bigr => i _; rewrite colE sq_inputs sq_delta mulrCA mulrDr mulr1 -big_distrl /=.
  rewrite [X in _ = _ * (_ + X)]mulrC -colE sq_column; congr (2 * (_ + _ * _)).
  by apply: eq_bigr => j _; rewrite !mxE.
rewrite -big_distrr big_split exchange_big /=; congr (2 * (_ + _)); apply: eq_bigr => j _.
rewrite (@contrast_sum R n k t s (fun v i => v ^+ 2 * h i)) ?contrast_index // => [|i]; last first.
  by rewrite expr0n mul0r.
rewrite -!big_distrr /= sqrrN exprMn; congr (_ + _).
by rewrite mulrDr; congr (_ + _); rewrite [RHS]mulrA; congr (_ * _); exact: mulrC.
Qed.

(* ---- before and after the scaling ---- *)

Definition square_of_contrast (j : nat) : R := t j ^+ 2 * (j.+1 * j.+2)%:R.

Lemma inputs_condition B K : 0 <= B -> (forall j : 'I_k.-1, norm_of_contrast j <= B) ->
  condition_number A K -> K ^+ 2 <= 1 + B.
Proof.
move=> B0 bound kA; have p2 : 0 < 2 :> R by rewrite ltr0n.
rewrite -(ler_pmul2r p2); apply: (condition_number_le kA p2) => x _.
rewrite sq_inputs; apply/andP; split; first by rewrite (ler_pmul2l p2) ler_addl sq_ge0.
rewrite [(1 + B) * 2]mulrC -mulrA (ler_pmul2l p2).
by rewrite mulrDl mul1r ler_add2l contrasts_bound.
Qed.

Section After.
Variables (K' : R).
Hypothesis after : condition_number (A *m diag_mx (unit_columns A)) K'.

Lemma after_quotients : exists a b, [/\ 0 < a, 0 < b, b = K' ^+ 2 * a & forall g : nat -> R,
  a * (\sum_(i < n) g i ^+ 2 * sq (col i A)) <= sq (A *m column g) <=
  b * (\sum_(i < n) g i ^+ 2 * sq (col i A))].
Proof.
have [a [b [a0 b0 bE within]]] := condition_number_quotients after; exists a, b; split=> // g.
have unit i : unit_columns A 0 i ^+ 2 * sq (col i A) = 1.
  by apply: unit_columns_norm => l; apply: full_rank_columns inputs_injective.
have u0 i : unit_columns A 0 i != 0.
  by apply: contraTneq (oner_neq0 R) => z; rewrite -(unit i) z expr0n mul0r eqxx.
pose x : 'cV[R]_n := \col_i (g i / unit_columns A 0 i).
have xE : diag_mx (unit_columns A) *m x = column g.
  by apply/matrixP => i j; rewrite !ord1 diag_mul [x _ _]mxE [RHS]mxE mulrC divfK.
have -> : \sum_(i < n) g i ^+ 2 * sq (col i A) = sq x.
  rewrite sq_column; apply: eq_bigr => i _; rewrite [x _ _]mxE expr_div_n; congr (_ * _).
  by apply: (mulfI (expf_neq0 2 (u0 i))); rewrite unit mulfV // expf_neq0.
rewrite -xE mulmxA; apply: within => y.
have /full_column_rankP injective := inputs_injective.
rewrite -mulmxA => /injective/matrixP zero; rewrite [y](_ : _ = 0) ?dot0r //.
apply/matrixP => i j; rewrite !ord1 [RHS]mxE; apply: (mulfI (u0 i)).
by have := zero i 0; rewrite diag_mul [X in _ = X]mxE mulr0.
Qed.

(* The ones of the first k features. *)
Definition ones_of_k (i : nat) : R := (i < k)%:R.

Lemma ones_of_k_null : W *m column ones_of_k = 0.
Proof.
apply/matrixP => j i; rewrite ord1 contrasts_mul [RHS]mxE; have /andP[jk _] := contrast_index j.
rewrite (eq_bigr (fun=> 1)) => [|l _]; last by rewrite /ones_of_k (leq_trans _ (ltnW jk)).
rewrite sumr_const card_ord /ones_of_k jk mulr1 mulrC subrr add0r.
case: ifP => // _; rewrite big_nat big1 ?mulr0 // => l /andP[kl _].
by rewrite ltnNge kl.
Qed.

Lemma ones_of_k_square i : ones_of_k i ^+ 2 = ones_of_k i.
Proof. by rewrite /ones_of_k; case: (_ < _)%N; rewrite ?expr1n ?expr0n. Qed.

Lemma sum_ones_of_k m : (m <= k)%N -> \sum_(i < m) ones_of_k i = m%:R.
Proof.
move=> mk; rewrite (eq_bigr (fun=> 1)) => [|l _]; first by rewrite sumr_const card_ord.
by rewrite /ones_of_k (leq_trans _ mk).
Qed.

Lemma sum_all_ones_of_k : \sum_(i < n) ones_of_k i = k%:R.
Proof.
rewrite -(big_mkord xpredT) (@big_cat_nat _ _ _ k) //= big_mkord sum_ones_of_k //.
by rewrite big_nat big1 ?addr0 // => l /andP[kl _]; rewrite /ones_of_k ltnNge kl.
Qed.

Lemma small_quotient a :
  (forall g : nat -> R, a * (\sum_(i < n) g i ^+ 2 * sq (col i A)) <= sq (A *m column g)) ->
  a * (k%:R + \sum_(j < k.-1) square_of_contrast j) <= k%:R.
Proof.
have p2 : 0 < 2 :> R by rewrite ltr0n.
move=> /(_ ones_of_k); rewrite sq_inputs ones_of_k_null sq0 addr0 sq_column.
have -> : \sum_(i < n) column ones_of_k i 0 ^+ 2 = k%:R.
  by rewrite -sum_all_ones_of_k; apply: eq_bigr => i _; rewrite mxE ones_of_k_square.
rewrite (eq_bigr (fun i : 'I_n => ones_of_k i * sq (col i A))) => [|i _]; last first.
  by rewrite ones_of_k_square.
rewrite columns_sum sum_all_ones_of_k mulrCA (ler_pmul2l p2).
rewrite (eq_bigr (fun j : 'I_k.-1 => square_of_contrast j)) // => j _.
have /andP[jk _] := contrast_index j; rewrite (sum_ones_of_k (ltnW jk)) /ones_of_k jk mulr1.
rewrite [\sum_(k <= i < n) _]big_nat big1 => [|l /andP[kl _]]; last by rewrite ltnNge kl.
rewrite mulr0 if_same addr0 /square_of_contrast natrM [j.+2%:R]mulrSr; congr (_ * _).
by rewrite expr2 mulrDr mulr1 addrC.
Qed.

(* The first contrast, divided by the squares of the columns. *)
Section Large.
Variables (p u : R).
Definition along_first (i : nat) : R :=
  if i == 0%N then p else if i == 1%N then - p else if (i < k)%N then 0 else u.

Lemma sum_along_first m : (2 <= m <= k)%N -> \sum_(i < m) along_first i ^+ 2 = 2 * p ^+ 2.
Proof.
move=> /andP[m2 mk]; rewrite -(big_mkord xpredT (fun i => along_first i ^+ 2)).
rewrite big_ltn ?(ltn_trans _ m2) // big_ltn // big_nat big1 => [|[|[|i]] /andP[// im lm]].
  by rewrite addr0 /along_first /= sqrrN mulr_natl mulr2n.
by rewrite /along_first /= (leq_trans lm mk) expr0n.
Qed.

Lemma sum_small (f : R -> R) : \sum_(k <= i < n) f (along_first i) = (n - k)%:R * f u.
Proof.
rewrite (eq_big_nat _ _ (F2 := fun=> f u)) => [|i /andP[ki _]].
  by rewrite sumr_const_nat mulr_natl.
have i1 := leq_trans k_gt1 ki.
have i0 := ltn_trans (ltn0Sn 0) i1.
by rewrite /along_first (gtn_eqF i0) (gtn_eqF i1) (ltnNge i k) ki.
Qed.

Lemma sum_all_along_first : \sum_(i < n) along_first i ^+ 2 = 2 * p ^+ 2 + (n - k)%:R * u ^+ 2.
Proof.
rewrite -(big_mkord xpredT (fun i => along_first i ^+ 2)) (@big_cat_nat _ _ _ k) //=.
by rewrite big_mkord sum_along_first ?k_gt1 ?leqnn // (sum_small (fun v => v ^+ 2)).
Qed.

Lemma first_product (j : 'I_k.-1) : j = 0%N :> nat ->
  (W *m column along_first) j 0 = 2 * t 0 * p + (n - k)%:R * s * u.
Proof.
move=> j0; rewrite contrasts_mul j0 /= big_ord1 (sum_small id) /along_first /= mul1r.
have id (a b c d e : R) : a * b - a * - b + c * (d * e) = 2 * a * b + d * c * e by ring.
exact: id.
Qed.

Lemma large_quotient b :
  (forall g : nat -> R, sq (A *m column g) <= b * (\sum_(i < n) g i ^+ 2 * sq (col i A))) ->
  (2 * t 0 * p + (n - k)%:R * s * u) ^+ 2 <=
  b * (2 * p ^+ 2 * (1 + \sum_(j < k.-1) t j ^+ 2) + (n - k)%:R * (1 + s ^+ 2) * u ^+ 2).
Proof.
have p2 : 0 < 2 :> R by rewrite ltr0n.
move=> /(_ along_first); rewrite sq_inputs (columns_sum (fun i => along_first i ^+ 2)).
rewrite sum_all_along_first mulrCA (ler_pmul2l p2).
move=> le; apply: le_trans (_ : sq (W *m column along_first) <= _).
  rewrite sq_column (bigD1 (Ordinal first)) //= first_product // ler_addl.
  by apply: sumr_ge0 => j _; apply: sqr_ge0.
apply: le_trans (_ : sq (column along_first) + sq (W *m column along_first) <= _).
  by rewrite ler_addr sq_ge0.
apply: le_trans le _; rewrite le_eqVlt; apply/orP; left; apply/eqP; congr (_ * _).
rewrite big_split /= (eq_bigr (fun j : 'I_k.-1 => 2 * p ^+ 2 * t j ^+ 2)) => [|j _]; last first.
  have /andP[jk _] := contrast_index j; rewrite mulrC; congr (_ * _).
  case: (nat_of_ord j) jk => [|i] jk.
    by rewrite big_ord1 /along_first /= expr1n mul1r sqrrN mulr_natl mulr2n.
  have m : (2 <= i.+2 <= k)%N by rewrite /= ltnW.
  have zero : along_first i.+2 = 0 by rewrite /along_first /= jk.
  by rewrite (sum_along_first m) zero expr0n mulr0 addr0.
have once (v : R) : \sum_(j < k.-1) (if j == 0%N :> nat then v else 0) = v.
  rewrite (bigD1 (Ordinal first)) //= big1 ?addr0 // => j j0; case: ifP => // /eqP z.
  by case/eqP: j0; apply/val_inj.
rewrite once (sum_small (fun v => v ^+ 2)) -big_distrr /=.
move: (\sum_(_ < _) _) ((n - k)%:R : R) => x y.
have id : 2 * p ^+ 2 + y * u ^+ 2 + (2 * p ^+ 2 * x + s ^+ 2 * (y * u ^+ 2)) =
  2 * p ^+ 2 * (1 + x) + y * (1 + s ^+ 2) * u ^+ 2 by ring.
exact: id.
Qed.
End Large.

Let d := 1 + \sum_(j < k.-1) t j ^+ 2.
Lemma factor_from_below :
  (2 * t 0 ^+ 2 / d + (n - k)%:R * s ^+ 2 / (1 + s ^+ 2)) *
    (k%:R + \sum_(j < k.-1) square_of_contrast j) <= K' ^+ 2 * k%:R.
Proof.
have [a [b [a0 b0 bE within]]] := after_quotients.
have low := small_quotient (fun g => proj1 (andP (within g))).
have high p u := large_quotient p u (fun g => proj2 (andP (within g))).
set S := \sum_(j < k.-1) square_of_contrast j in low *.
have d0 : 0 < d by rewrite ltr_paddr ?ltr01 // sumr_ge0 // => j _; apply: sqr_ge0.
have s0 : 0 < 1 + s ^+ 2 by rewrite ltr_paddr ?ltr01 ?sqr_ge0.
have S0 : 0 <= S by rewrite sumr_ge0 // => j _; rewrite mulr_ge0 ?sqr_ge0 ?ler0n.
set q := 2 * t 0 ^+ 2 / d + _; have q0 : 0 <= q.
  by rewrite addr_ge0 // divr_ge0 ?(ltW d0) ?(ltW s0) // mulr_ge0 ?ler0n ?sqr_ge0.
have qb : q <= b.
  have := high (t 0 / d) (s / (1 + s ^+ 2)); rewrite -/d.
  have -> : 2 * t 0 * (t 0 / d) + (n - k)%:R * s * (s / (1 + s ^+ 2)) = q.
    by rewrite /q; field; rewrite !gt_eqF.
  have -> : 2 * (t 0 / d) ^+ 2 * d + (n - k)%:R * (1 + s ^+ 2) * (s / (1 + s ^+ 2)) ^+ 2 = q.
    by rewrite /q; field; rewrite !gt_eqF.
  rewrite expr2; have [->|qn] := eqVneq q 0; first by rewrite (ltW b0).
  by rewrite ler_pmul2r // lt_def qn.
apply: le_trans (_ : b * (k%:R + S) <= _).
  by rewrite ler_wpmul2r // addr_ge0 ?ler0n.
by rewrite bE -mulrA ler_wpmul2l ?sqr_ge0.
Qed.
End After.
End Inputs.

(* ---- the numbers ---- *)

Section Numbers.
Variables (R : rcfType) (n k s : R).
Hypotheses (k1 : 1 <= k) (kn : k <= n) (s4 : 4 * n <= s ^+ 2) (ks : 2 * k <= s) (n2 : 2 <= n).
Local Notation m := (4 * n * s).
Local Notation L := ((m - k / 2) ^+ 2).
Local Notation U := ((m + k / 2) ^+ 2).
Local Notation c := (1 - 1 / k).
Let k0 : 0 < k := lt_le_trans ltr01 k1.
Let n0 : 0 < n := lt_le_trans k0 kn.
Let s0 : 0 < s. Proof. by apply: lt_le_trans ks; rewrite mulr_gt0 ?ltr0n. Qed.
Let c0 : 0 <= c. Proof. by rewrite subr_ge0 ler_pdivr_mulr ?mul1r. Qed.
Let c1 : c <= 1. Proof. by rewrite ler_subl_addr ler_addl divr_ge0 ?ler01 ?ltW. Qed.
Let m0 : 0 < m. Proof. by rewrite !mulr_gt0 ?ltr0n. Qed.

(* 16 (k/2) <= m *)
Lemma half_small : 16 * (k / 2) <= m.
Proof.
apply: le_trans (_ : 4 * 2 * s <= _); last by rewrite -!mulrA ler_pmul2l ?ltr0n // ler_pmul2r.
have -> : 16 * (k / 2) = 4 * (2 * k) by field.
by rewrite -[4 * 2 * s]mulrA ler_pmul2l ?ltr0n // (le_trans ks) // ler_pemull ?(ltW s0) // ler1n.
Qed.

Lemma squares_far : 9 * n ^+ 2 * s ^+ 2 * U <= L ^+ 2.
Proof.
set e := k / 2; have e0 : 0 <= e by rewrite divr_ge0 ?ler0n ?(ltW k0).
have em := half_small; rewrite -/e in em; have me : 0 <= m * (m - 16 * e).
  by rewrite mulr_ge0 ?(ltW m0) // subr_ge0.
have lo : 7 * m ^+ 2 <= 8 * (m - e) ^+ 2.
  rewrite -subr_ge0; have -> : 8 * (m - e) ^+ 2 - 7 * m ^+ 2 = m * (m - 16 * e) + 8 * e ^+ 2.
    by ring.
  by rewrite addr_ge0 // mulr_ge0 ?sqr_ge0 ?ler0n.
have up : 4 * (m + e) ^+ 2 <= 5 * m ^+ 2.
  rewrite -subr_ge0; have -> : 5 * m ^+ 2 - 4 * (m + e) ^+ 2 =
    m * (m - 16 * e) + 4 * e * ((m - 16 * e) + (m + 15 * e)) by ring.
  rewrite addr_ge0 // mulr_ge0 ?(mulr_ge0 (ler0n _ _)) // addr_ge0 ?subr_ge0 //.
  rewrite addr_ge0 ?(ltW m0) //.
  by rewrite mulr_ge0 ?ler0n.
have p64 : 0 < 64 :> R by rewrite ltr0n.
rewrite -(ler_pmul2l p64); apply: le_trans (_ : 9 * m ^+ 2 * (4 * (m + e) ^+ 2) <= _).
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
apply: le_trans (_ : 9 * m ^+ 2 * (5 * m ^+ 2) <= _).
  by rewrite ler_wpmul2l // mulr_ge0 ?ler0n ?sqr_ge0.
apply: le_trans (_ : (7 * m ^+ 2) ^+ 2 <= _).
  rewrite -subr_ge0; have -> : (7 * m ^+ 2) ^+ 2 - 9 * m ^+ 2 * (5 * m ^+ 2) = 4 * (m ^+ 2) ^+ 2.
    by ring.
  by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
have -> : 64 * ((m - e) ^+ 2) ^+ 2 = (8 * (m - e) ^+ 2) ^+ 2 by ring.
have pos i v : 0 <= i%:R * v ^+ 2 :> R by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
by rewrite ler_sqr ?nnegrE ?pos.
Qed.

(* The factor that is claimed, with the condition number before, against the one after. *)
Lemma numbers : (n - k) * c * (1 + U + s ^+ 2 * (n - k)) <=
  (L / (1 + c * U) + (n - k) * s ^+ 2 / (1 + s ^+ 2)) * (1 + c * L).
Proof.
have far := squares_far; set l := L in far *; set u := U in far *.
have gap : u - l <= 4 * n * s ^+ 2.
  have -> : u - l = 4 * n * s * (2 * k) by rewrite /u /l; field.
  have -> : 4 * n * s ^+ 2 = m * s by ring.
  by rewrite ler_wpmul2l ?(ltW m0).
have lu : l <= u.
  rewrite -subr_ge0; have -> : u - l = 4 * n * s * (2 * k) by rewrite /u /l; field.
  by rewrite mulr_ge0 ?(ltW m0) // mulr_ge0 ?ler0n ?(ltW k0).
have l0 : 0 <= l by apply: sqr_ge0.
have u0 : 0 < u by rewrite exprn_gt0 // addr_gt0 // divr_gt0 ?ltr0n.
have lm : l <= 16 * n ^+ 2 * s ^+ 2.
  have -> : 16 * n ^+ 2 * s ^+ 2 = m ^+ 2 by ring.
  have e0 : 0 <= k / 2 by rewrite divr_ge0 ?ler0n ?(ltW k0).
  have me : k / 2 <= m by apply: le_trans half_small; rewrite ler_pemull // ler1n.
  by rewrite ler_sqr ?nnegrE ?subr_ge0 ?(ltW m0) // ler_subl_addr ler_addl.
clearbody l u; set N := n - k; have N0 : 0 <= N by rewrite subr_ge0.
have cu0 : 0 < 1 + c * u by rewrite ltr_paddr ?ltr01 // mulr_ge0 // ltW.
have s1 : 0 < 1 + s ^+ 2 by rewrite ltr_paddr ?ltr01 ?sqr_ge0.
have X1 : 9 * n ^+ 2 * s ^+ 2 <= l / (1 + c * u) * (1 + c * l).
  apply: le_trans (_ : l ^+ 2 / u <= _); first by rewrite ler_pdivl_mulr.
  rewrite [X in _ <= X]mulrAC ler_pdivl_mulr // [X in X <= _]mulrAC ler_pdivr_mulr // -subr_ge0.
  have -> : l * (1 + c * l) * u - l ^+ 2 * (1 + c * u) = l * (u - l) by ring.
  by rewrite mulr_ge0 // subr_ge0.
have X2 : N * (c * (l - 16 * n ^+ 2)) <= N * s ^+ 2 / (1 + s ^+ 2) * (1 + c * l).
  have -> : N * s ^+ 2 / (1 + s ^+ 2) * (1 + c * l) = N * (s ^+ 2 * (1 + c * l) / (1 + s ^+ 2)).
    by rewrite mulrAC -!mulrA.
  rewrite ler_wpmul2l // ler_pdivl_mulr // -subr_ge0.
  have -> : s ^+ 2 * (1 + c * l) - c * (l - 16 * n ^+ 2) * (1 + s ^+ 2) =
    s ^+ 2 + c * (16 * n ^+ 2 * s ^+ 2 - l) + c * (16 * n ^+ 2) by ring.
  have n16 : 0 <= 16 * n ^+ 2 by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
  have gl : 0 <= 16 * n ^+ 2 * s ^+ 2 - l by rewrite subr_ge0.
  exact: addr_ge0 (addr_ge0 (sqr_ge0 s) (mulr_ge0 c0 gl)) (mulr_ge0 c0 n16).
rewrite mulrDl; apply: le_trans (ler_add X1 X2); rewrite -ler_subl_addr.
have -> : N * c * (1 + u + s ^+ 2 * N) - N * (c * (l - 16 * n ^+ 2)) =
  N * c * ((1 + s ^+ 2 * N) + (u - l) + 16 * n ^+ 2) by ring.
have small1 : 1 + s ^+ 2 * N <= s ^+ 2 * n.
  rewrite -subr_ge0; have -> : s ^+ 2 * n - (1 + s ^+ 2 * N) = s ^+ 2 * k - 1 by rewrite /N; ring.
  rewrite subr_ge0 -[1]mulr1 ler_pmul ?ler01 //; apply: le_trans s4.
  have n1 := le_trans k1 kn; have four : 1 <= 4 :> R by rewrite ler1n.
  by have := ler_pmul ler01 ler01 four n1; rewrite mulr1.
have small2 : 16 * n ^+ 2 <= 4 * n * s ^+ 2.
  have -> : 16 * n ^+ 2 = 4 * n * (4 * n) by ring.
  by rewrite ler_wpmul2l // mulr_ge0 ?ler0n ?(ltW n0).
apply: le_trans (_ : n * 1 * (s ^+ 2 * n + 4 * n * s ^+ 2 + 4 * n * s ^+ 2) <= _); last first.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
have Nn : N <= n by rewrite /N ler_subl_addr ler_addl (ltW k0).
have ul : 0 <= u - l by rewrite subr_ge0.
have b0 : 0 <= 1 + s ^+ 2 * N by rewrite addr_ge0 ?ler01 // mulr_ge0 ?sqr_ge0.
have n16 : 0 <= 16 * n ^+ 2 by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
apply: (ler_pmul (mulr_ge0 N0 c0) (addr_ge0 (addr_ge0 b0 ul) n16)).
  exact: ler_pmul N0 c0 Nn c1.
exact: ler_add (ler_add small1 gap) small2.
Qed.
End Numbers.

(* ---- rounded entries ---- *)

Definition nearest (R : rcfType) (x : R) (i : nat) := `|i%:R - x| <= 2^-1.

Section Rounded.
Variables (R : rcfType) (n k : nat) (s : R) (t : nat -> nat).
Local Notation m := (4 * n%:R * s).
Local Notation L := ((m - k%:R / 2) ^+ 2).
Local Notation U := ((m + k%:R / 2) ^+ 2).
Local Notation c := (1 - 1 / k%:R).
Hypothesis k2 : (2 <= k <= n)%N.
Hypothesis large : k%:R / 2 <= m.
Hypothesis rounded : forall j, nearest (m / Num.sqrt (j.+1 * j.+2)%:R) (t j).
Let k0 : 0 < k%:R :> R. Proof. by rewrite ltr0n; case/andP: k2 => /ltnW. Qed.
Local Notation square := (square_of_contrast (fun j => (t j)%:R : R)).

Lemma square_within (j : 'I_k.-1) : L <= square j <= U.
Proof.
have /andP[jk _] := contrast_index k2 j; set p : R := Num.sqrt (j.+1 * j.+2)%:R.
have p0 : 0 < p by rewrite sqrtr_gt0 ltr0n.
have pp : p ^+ 2 = (j.+1 * j.+2)%:R by rewrite sqr_sqrtr ?ler0n.
have pk : p <= k%:R.
  rewrite -ler_sqr ?nnegrE ?(ltW p0) ?ler0n // pp -natrX ler_nat expnS expn1 leq_mul //.
  exact: ltnW.
have near : `|(t j)%:R * p - m| <= k%:R / 2.
  have -> : (t j)%:R * p - m = p * ((t j)%:R - m / p).
    by rewrite mulrBr [p * (t j)%:R]mulrC [p * (m / p)]mulrC divfK // gt_eqF.
  by rewrite normrM (gtr0_norm p0) ler_pmul ?(ltW p0) //; exact: rounded.
have tp0 : 0 <= (t j)%:R * p by rewrite mulr_ge0 ?ler0n ?(ltW p0).
move: near; rewrite ler_distl => /andP[lo hi].
rewrite /square_of_contrast -pp -exprMn !ler_sqr ?nnegrE ?subr_ge0 //; first by rewrite lo hi.
by apply: le_trans tp0 hi.
Qed.

Lemma sum_of_squares : (k%:R - 1) * L <= \sum_(j < k.-1) square j.
Proof.
have -> : k%:R - 1 = k.-1%:R :> R by case/andP: k2 => /ltnW/prednK <- _; rewrite mulrSr addrK.
have -> : k.-1%:R * L = \sum_(j < k.-1) L by rewrite sumr_const card_ord mulr_natl.
by apply: ler_sum => j _; have /andP[] := square_within j.
Qed.

Lemma telescope q : \sum_(j < q) ((j.+1 * j.+2)%:R)^-1 = 1 - 1 / q.+1%:R :> R.
Proof.
elim: q => [|q IH]; first by rewrite big_ord0 divr1 subrr.
rewrite big_ord_recr /= IH natrM [q.+2%:R]mulrSr; have x0 : 0 < q.+1%:R :> R by rewrite ltr0n.
move: (q.+1%:R : R) x0 => x x0; have y0 : 0 < x + 1 by rewrite addr_gt0 ?ltr01.
have id : 1 - 1 / x + (x * (x + 1))^-1 = 1 - 1 / (x + 1) by field; rewrite !gt_eqF.
exact: id.
Qed.

Lemma sum_of_entries : \sum_(j < k.-1) (t j)%:R ^+ 2 <= c * U.
Proof.
have := telescope k.-1; rewrite prednK => [<-|]; last by case/andP: k2 => /ltnW.
rewrite big_distrl; apply: ler_sum => j _ /=; rewrite ler_pdivl_mull ?ltr0n // mulrC.
by have /andP[] := square_within j.
Qed.
End Rounded.

Section Factor.
Variables (R : rcfType) (n k : nat) (s : R) (t : nat -> nat) (K K' : R).
Local Notation m := (4 * n%:R * s).
Local Notation A := (contrasting n k (fun j => (t j)%:R) s).
Hypothesis k2 : (2 <= k <= n)%N.
Hypotheses (s4 : 4 * n%:R <= s ^+ 2) (ks : 2 * k%:R <= s).
Hypothesis rounded : forall j, nearest (m / Num.sqrt (j.+1 * j.+2)%:R) (t j).
Hypothesis before : condition_number A K.
Hypothesis after : condition_number (A *m diag_mx (unit_columns A)) K'.

Lemma nearly_attained : (n%:R + 1 - k%:R - n%:R / k%:R) * K ^+ 2 <= K' ^+ 2.
Proof.
have /andP[k_gt1 kn] := k2; have k1 : 1 <= k%:R :> R by rewrite ler1n ltnW.
have k0 : 0 < k%:R :> R by apply: lt_le_trans ltr01 k1.
have kn' : k%:R <= n%:R :> R by rewrite ler_nat.
have n2 : 2 <= n%:R :> R by rewrite ler_nat (leq_trans k_gt1).
have s0 : 0 < s by exact: lt_le_trans (mulr_gt0 (ltr0Sn R 1) k0) ks.
have large : k%:R / 2 <= m.
  have e0 : 0 <= k%:R / 2 :> R by rewrite divr_ge0 ?ler0n.
  by apply: le_trans (half_small k1 ks n2); rewrite ler_pemull // ler1n.
set L := (m - k%:R / 2) ^+ 2; set U := (m + k%:R / 2) ^+ 2; pose c : R := 1 - 1 / k%:R.
have within (j : 'I_k.-1) : L <= square_of_contrast (fun j => (t j)%:R) j <= U.
  exact: square_within k2 large rounded j.
have nk : (n - k)%:R = n%:R - k%:R :> R by rewrite natrB.
have N0 : 0 <= n%:R - k%:R :> R by rewrite subr_ge0.
have c0 : 0 <= c by rewrite subr_ge0 ler_pdivr_mulr ?mul1r.
have tail : 0 <= s ^+ 2 * (n%:R - k%:R) by rewrite mulr_ge0 ?sqr_ge0.
have B0 : 0 <= U + s ^+ 2 * (n%:R - k%:R) by rewrite addr_ge0 ?sqr_ge0.
have K2 : K ^+ 2 <= 1 + (U + s ^+ 2 * (n%:R - k%:R)).
  apply: (inputs_condition k2 B0 _ before) => j; have /andP[_ hi] := within j.
  by rewrite /norm_of_contrast nk; apply: ler_add hi _; case: ifP.
have -> : n%:R + 1 - k%:R - n%:R / k%:R = (n%:R - k%:R) * c.
  by rewrite /c; field; rewrite gt_eqF.
apply: le_trans (_ : (n%:R - k%:R) * c * (1 + U + s ^+ 2 * (n%:R - k%:R)) <= _).
  by rewrite -addrA ler_wpmul2l ?mulr_ge0.
apply: le_trans (numbers k1 kn' s4 ks n2) _; rewrite -/L -/U -/c.
rewrite -(ler_pmul2r k0); apply: le_trans (factor_from_below k2 after).
rewrite nk -[X in X <= _]mulrA.
have U0 : 0 <= U by apply: sqr_ge0.
have L0 : 0 <= L by apply: sqr_ge0.
have cU : 0 < 1 + c * U by rewrite ltr_paddr ?ltr01 // mulr_ge0.
have s1 : 0 < 1 + s ^+ 2 by rewrite ltr_paddr ?ltr01 ?sqr_ge0.
apply: ler_pmul.
- by rewrite addr_ge0 // divr_ge0 ?(ltW cU) ?(ltW s1) // mulr_ge0 ?sqr_ge0.
- exact: mulr_ge0 (addr_ge0 ler01 (mulr_ge0 c0 L0)) (ltW k0).
- rewrite ler_add2r; set d := 1 + \sum_(j < k.-1) _.
  have d0 : 0 < d by rewrite ltr_paddr ?ltr01 // sumr_ge0 // => j _; apply: sqr_ge0.
  have dU : d <= 1 + c * U by rewrite ler_add2l; exact: (sum_of_entries k2 large rounded).
  have /andP[lo _] := within (Ordinal (first k2)).
  apply: ler_pmul => //; first by rewrite invr_ge0 ltW.
    by apply: le_trans lo _; rewrite /square_of_contrast mulrC.
  by rewrite lef_pinv ?posrE.
have -> : (1 + c * L) * k%:R = k%:R + (k%:R - 1) * L by rewrite /c; field; rewrite gt_eqF.
by rewrite ler_add2l; exact: (sum_of_squares k2 large rounded).
Qed.
End Factor.

(* With s = 2 ceil (root n), t_j = round (4 n s/root (j (j + 1))), and k next to root n. *)
Theorem theorem_4c_nearly_tight (R : rcfType) (n ceiling root : nat) (t : nat -> nat) (K K' : R) :
  let root_n : R := Num.sqrt n%:R in
  let k := minn n (maxn 2 root) in let s : R := 2 * ceiling%:R in
  let A := contrasting n k (fun j => (t j)%:R) s in
  (2 <= n)%N -> root_n <= ceiling%:R < root_n + 1 -> nearest root_n root ->
  (forall j, nearest (4 * n%:R * s / Num.sqrt (j.+1 * j.+2)%:R) (t j)) ->
  condition_number A K -> condition_number (A *m diag_mx (unit_columns A)) K' ->
  (n%:R + 1 - k%:R - n%:R / k%:R) * K ^+ 2 <= K' ^+ 2.
Proof.
move=> root_n k s A n2 /andP[above _] near rounded before after.
have k2 : (2 <= k <= n)%N by rewrite leq_min n2 leq_max leqnn geq_minl.
have nE : n%:R = root_n ^+ 2 by rewrite sqr_sqrtr ?ler0n.
have squared : n%:R <= ceiling%:R ^+ 2 :> R.
  by rewrite nE ler_sqr ?nnegrE ?sqrtr_ge0 ?ler0n.
have c2 : (2 <= ceiling)%N.
  move: (squared); rewrite -natrX ler_nat leqNgt => le; apply/negP => small.
  have : (2 <= ceiling ^ 2)%N by apply: leq_trans n2 _; rewrite leqNgt.
  by case: (ceiling) small => [|[|]].
have rc : (root <= ceiling)%N.
  rewrite -ltnS -(ltr_nat R) mulrSr; move: near; rewrite /nearest ler_distl => /andP[_ le].
  apply: le_lt_trans le _; apply: ler_lt_add => //.
  by rewrite invf_lt1 ?ltr0n // ltr1n.
have kc : k%:R <= ceiling%:R :> R by rewrite ler_nat geq_min geq_max c2 rc orbT.
apply: (nearly_attained k2 _ _ rounded before after).
  have -> : s ^+ 2 = 4 * ceiling%:R ^+ 2 by rewrite /s; ring.
  by rewrite ler_wpmul2l ?ler0n.
by rewrite /s ler_wpmul2l ?ler0n.
Qed.

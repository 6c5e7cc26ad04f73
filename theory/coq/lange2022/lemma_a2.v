(* Lemma A2 (Seginer) for small matrices of signs, at k = 2 and with the constant 1:

     E |G|^2 <= q^2 (m + n)      for m, n <= 3 and the m x n matrices G of entries q and -q,

   whose rows have the squared norm n q^2, and columns m q^2.  With q = 1 every single one has

     |G|^2 <= m + n + (|G'G|_F^2 - m n (m + n - 1)) / 7,      m n (m + n - 1) = E |G'G|_F^2.

   G'G has m on its diagonal and at most three numbers besides, the inner products of columns: sums
   of at most three signs.  So the bound is one on a quadratic form in at most three variables, and
   holds by its minors; these are integers, computed for each choice of the signs.

   Of the law of the signs the mean asks only that the product of the four entries where two rows
   meet two columns has the mean 0, as it has where all matrices of signs are as likely. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct SpectralTheorem ConditionNumber Expectation.
From BatchNorm.lange2022 Require Import norm_of_features.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* ---- one matrix ---- *)

(* By the minors of t - [[0, a, b], [a, 0, c], [b, c, 0]]. *)
Lemma form_le (R : rcfType) (t a b c x y z : R) : 0 < t -> a ^+ 2 < t ^+ 2 ->
  t * (a ^+ 2 + b ^+ 2 + c ^+ 2) + 2 * (a * b * c) <= t ^+ 3 ->
  2 * (a * x * y + b * x * z + c * y * z) <= t * (x ^+ 2 + y ^+ 2 + z ^+ 2).
Proof.
move=> t0; rewrite -subr_gt0 => d0; rewrite -subr_ge0 => det0.
rewrite -subr_ge0 -(pmulr_rge0 _ t0) -(pmulr_rge0 _ d0).
set lhs := (X in 0 <= X); have -> : lhs = (t ^+ 2 - a ^+ 2) * (t * x - a * y - b * z) ^+ 2
    + ((t ^+ 2 - a ^+ 2) * y - (t * c + a * b) * z) ^+ 2
    + t * (t ^+ 3 - (t * (a ^+ 2 + b ^+ 2 + c ^+ 2) + 2 * (a * b * c))) * z ^+ 2.
  by rewrite /lhs; ring.
apply: addr_ge0; last by rewrite mulr_ge0 ?sqr_ge0 // mulr_ge0 // ltW.
by rewrite addr_ge0 ?sqr_ge0 // mulr_ge0 ?sqr_ge0 ?ltW.
Qed.

Lemma integer_form_le (R : rcfType) (t a b c : int) (x y z : R) :
  [&& 0 < t, a ^+ 2 < t ^+ 2 & t * (a ^+ 2 + b ^+ 2 + c ^+ 2) + 2 * (a * b * c) <= t ^+ 3] ->
  2 * (a%:~R * x * y + b%:~R * x * z + c%:~R * y * z) <= t%:~R * (x ^+ 2 + y ^+ 2 + z ^+ 2).
Proof.
case/and3P; rewrite -(ltr0z R) -(ltr_int R) -(ler_int R) => t0 at_ det.
apply: form_le => //; first by rewrite -!rmorphX.
by apply: le_trans _ (le_trans det _); rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

(* So it is for seven times the inner products of two columns, and of three. *)
Definition total (s : seq bool) : int := foldr +%R 0 [seq (-1) ^+ (x : bool) | x <- s].

Lemma two_columns (s : seq bool) : (size s <= 3)%N ->
  let a := 7 * total s in let t := 14 + 2 * (total s ^+ 2 - (size s)%:Z) in
  [&& 0 < t, a ^+ 2 < t ^+ 2 & t * (a ^+ 2 + 0 ^+ 2 + 0 ^+ 2) + 2 * (a * 0 * 0) <= t ^+ 3].
Proof. by case: s => [|[] [|[] [|[] [|//]]]] _; vm_compute. Qed.

Lemma three_columns (s : seq (bool * bool)) : (size s <= 3)%N ->
  let S := total [seq x.1 | x <- s] ^+ 2 + total [seq x.2 | x <- s] ^+ 2
    + total [seq x.1 (+) x.2 | x <- s] ^+ 2 in
  let a := 7 * total [seq x.1 | x <- s] in let b := 7 * total [seq x.2 | x <- s] in
  let c := 7 * total [seq x.1 (+) x.2 | x <- s] in let t := 21 + 2 * (S - 3 * (size s)%:Z) in
  [&& 0 < t, a ^+ 2 < t ^+ 2 & t * (a ^+ 2 + b ^+ 2 + c ^+ 2) + 2 * (a * b * c) <= t ^+ 3].
Proof. by case: s => [|[[] []] [|[[] []] [|[[] []] [|//]]]] _; vm_compute. Qed.

Section Signs.
Variables (R : rcfType) (m n : nat) (b : 'I_m -> 'I_n -> bool).
Definition signs : 'M[R]_(m, n) := \matrix_(i, j) (-1) ^+ b i j.

Definition gram (j k : 'I_n) : int := total [seq b i j (+) b i k | i <- enum 'I_m].

Lemma gramE j k : (signs^T *m signs) j k = (gram j k)%:~R.
Proof.
rewrite mxE /gram /total foldrE 2!big_map big_enum rmorph_sum; apply: eq_bigr => i _ /=.
by rewrite !mxE rmorph_sign signr_addb.
Qed.
Lemma gram_diagonal j : gram j j = m%:Z.
Proof.
rewrite /gram /total foldrE 2!big_map big_enum (eq_bigr (fun _ => 1)) => [|i _].
  by rewrite sumr_const card_ord -natz.
by rewrite addbb.
Qed.
Lemma gramC j k : gram j k = gram k j.
Proof. by congr total; apply: eq_map => i; rewrite addbC. Qed.
End Signs.

(* From an inequality seven times as large. *)
Lemma seventh (R : rcfType) (l r l7 r7 : R) : l7 <= r7 -> r7 - l7 = 7 * (r - l) -> l <= r.
Proof. by rewrite -subr_ge0 => + E; rewrite E pmulr_rge0 ?ltr0n // subr_ge0. Qed.

Lemma one_matrix (R : rcfType) m n (b : 'I_m -> 'I_n -> bool) (x : 'cV[R]_n) :
  let G := signs R b in (m <= 3)%N -> (n <= 3)%N ->
  sq (G *m x) <= (m%:R + n%:R + (sq (G^T *m G) - (m * n)%:R * (m%:R + n%:R - 1)) / 7) * sq x.
Proof.
move=> /= m3 n3; rewrite sq_mul dot_column sq_column.
under eq_bigr do rewrite mxE; rewrite /sq /dot natrM.
have diagonal j : (gram b j j)%:~R = m%:R :> R by rewrite gram_diagonal.
case: n n3 b x diagonal => [|[|[|[|//]]]] _ b x diagonal.
all: rewrite ?big_ord_recl ?big_ord0 ?gramE ?diagonal ?addr0.
- by rewrite mulr0.
- move: (x _ _) => y; apply: seventh (mulr_ge0 (ler0n R 7) (sqr_ge0 y)) _; by field.
- set j := lift _ _; pose s := [seq b i ord0 (+) b i j | i <- enum 'I_m].
  have size_s : size s = m by rewrite size_map size_enum_ord.
  rewrite (gramC b j) -[gram b _ _]/(total s); move: (x _ _) (x j 0) => y z.
  have := two_columns (s := s); rewrite size_s => /(_ m3) /(integer_form_le y z 0) /seventh; apply.
  by move: (total s) => a; field.
- pose j : 'I_3 := lift ord0 ord0; pose k : 'I_3 := lift ord0 (lift ord0 ord0); rewrite -/j -/k.
  pose s := [seq (b i ord0 (+) b i j, b i ord0 (+) b i k) | i <- enum 'I_m].
  have size_s : size s = m by rewrite size_map size_enum_ord.
  have oj : total [seq y.1 | y <- s] = gram b ord0 j by rewrite -map_comp.
  have ok : total [seq y.2 | y <- s] = gram b ord0 k by rewrite -map_comp.
  have jk : total [seq y.1 (+) y.2 | y <- s] = gram b j k.
    by rewrite -map_comp; congr total; apply: eq_map => i /=; rewrite addbACA addbb.
  have := three_columns (s := s); rewrite size_s oj ok jk => /(_ m3).
  rewrite (gramC b j ord0) !(gramC b k).
  move: (x _ _) (x j 0) (x k 0) => y z t /(integer_form_le y z t) /seventh; apply.
  by move: (gram _ _ j) (gram _ _ k) (gram _ _ k) => a c d; field.
Qed.

(* ---- the mean ---- *)

Section Mean.
Variables (R : rcfType) (T : Type) (E : expectation R T) (m n : nat) (q : R).
Variable G : T -> 'M[R]_(m, n).
Hypothesis entries : forall w i j, G w i j = q \/ G w i j = - q.
Hypothesis products : forall i k j l, i != k -> j != l ->
  let product w := G w i j * G w i l * (G w k j * G w k l) in
  integrable E product /\ E product = 0.

Let product i k j l w : R := G w i j * G w i l * (G w k j * G w k l).
Lemma sq_gramE w : \sum_j \sum_l \sum_i \sum_k product i k j l w = sq ((G w)^T *m G w).
Proof.
apply: eq_bigr => j _; apply: eq_bigr => l _; rewrite mxE mulr_suml; apply: eq_bigr => i _.
by rewrite mulr_sumr; apply: eq_bigr => k _; rewrite !mxE.
Qed.

Lemma entry_squared w i j : G w i j * G w i j = q * q.
Proof. by case: (entries w i j) => ->; rewrite ?mulrNN. Qed.

Lemma mean_product i k j l : integrable E (product i k j l) /\
  E (product i k j l) = q ^+ 4 * ((l == j)%:R + (1 - (l == j)%:R) * (k == i)%:R).
Proof.
have constant : (i == k) || (j == l) -> (fun _ => q ^+ 4) =1 product i k j l.
  move=> ikjl w; rewrite /product; have [ik|jl] := orP ikjl.
    by rewrite -(eqP ik) mulrACA !entry_squared; ring.
  by rewrite -(eqP jl) !entry_squared; ring.
have Ic := integrable_constant E (q ^+ 4); rewrite [l == j]eq_sym [k == i]eq_sym.
have [jl|jl] := eqVneq j l; last have [ik|ik] := eqVneq i k.
- have {}constant := constant (introT orP (or_intror (introT eqP jl))).
  split; first exact: integrable_same constant Ic.
  by rewrite -(of_same constant Ic) of_constant subrr mul0r addr0 mulr1.
- have {}constant := constant (introT orP (or_introl (introT eqP ik))).
  split; first exact: integrable_same constant Ic.
  by rewrite -(of_same constant Ic) of_constant subr0 add0r !mulr1.
by have [I ->] := products ik jl; rewrite add0r mulr0 mulr0.
Qed.

Lemma mean_gram : let V w := sq ((G w)^T *m G w) in
  integrable E V /\ E V = q ^+ 4 * ((m * n)%:R * (m%:R + n%:R - 1)).
Proof.
have I4 i k j l : integrable E (product i k j l) by case: (mean_product i k j l).
have I3 i j l := integrable_sums (fun k => I4 i k j l).
have I2 j l := integrable_sums (fun i => I3 i j l).
have I1 j := integrable_sums (I2 j); have I0 := integrable_sums I1.
split; first exact: integrable_same sq_gramE I0.
have E2 j l : E (fun w => \sum_i \sum_k product i k j l w) =
    q ^+ 4 * m%:R * (1 + (m%:R - 1) * (l == j)%:R).
  rewrite of_sums // (eq_bigr (fun _ => q ^+ 4 * (m%:R * (l == j)%:R + (1 - (l == j)%:R)))).
    by rewrite sumr_const card_ord -[LHS]mulr_natl; ring.
  move=> i _; rewrite of_sums //; under eq_bigr do rewrite (mean_product _ _ _ _).2.
  by rewrite -mulr_sumr big_split (sum_at (fun _ => _)) sumr_const card_ord mulr_natl.
have E1 j : E (fun w => \sum_l \sum_i \sum_k product i k j l w) =
    q ^+ 4 * m%:R * (n%:R + (m%:R - 1)).
  rewrite of_sums //; under eq_bigr do rewrite E2.
  by rewrite -mulr_sumr big_split (sum_at (fun _ => _)) sumr_const card_ord.
rewrite -(of_same sq_gramE I0) of_sums //; under eq_bigr do rewrite E1.
by rewrite sumr_const card_ord -[LHS]mulr_natl natrM; ring.
Qed.
End Mean.

(* The signs may have any law by which the products have the mean 0. *)
Theorem lemma_A2_small_signs_any_law (R : rcfType) T (E : expectation R T) m n (q : R)
    (G : T -> 'M[R]_(m, n)) (norm : T -> R) :
  (m <= 3)%N -> (n <= 3)%N -> 0 < q -> (forall w i j, G w i j = q \/ G w i j = - q) ->
  (forall i k j l, i != k -> j != l ->
     let product w := G w i j * G w i l * (G w k j * G w k l) in
     integrable E product /\ E product = 0) ->
  (forall w, largest_singular_value (G w) (norm w)) -> integrable E (fun w => norm w ^+ 2) ->
  E (fun w => norm w ^+ 2) <= q ^+ 2 * (m%:R + n%:R).
Proof.
move=> m3 n3 q0 entries products is_norm In; have [IV EV] := mean_gram entries products.
have qn : q != 0 by rewrite gt_eqF.
pose c := q ^+ 2 * (m%:R + n%:R - (m * n)%:R * (m%:R + n%:R - 1) / 7).
have IaV := integrable_multiple (7 * q ^+ 2)^-1 IV; have Ic := integrable_constant E c.
have <- : E (fun w => (7 * q ^+ 2)^-1 * sq ((G w)^T *m G w) + c) = q ^+ 2 * (m%:R + n%:R).
  by rewrite of_sum // of_multiple // EV of_constant /c; field.
apply: monotone => // [|w]; first exact: integrable_sum.
pose b i j := G w i j != q; have GE : G w = q *: signs R b.
  apply/matrixP => i j; rewrite !mxE /b; have [->|] := eqVneq; first by rewrite mulr1.
  by case: (entries w i j) => -> //; rewrite ?eqxx // mulrN1.
have -> : sq ((G w)^T *m G w) = q ^+ 4 * sq ((signs R b)^T *m signs R b).
  have GT : (G w)^T = q *: (signs R b)^T by apply/matrixP => i j; rewrite GE !mxE.
  by rewrite GT GE -scalemxAl -scalemxAr !sqZ mulrA -exprD.
apply: (norm_le (is_norm w)) => x; rewrite GE -scalemxAl sqZ.
have := one_matrix b x m3 n3; rewrite -(ler_pmul2l (exprn_gt0 2 q0)) => /le_trans; apply.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite /c; field.
Qed.

Lemma flip_signs (R : rcfType) m n (q : R) (i k : 'I_m) (j l : 'I_n) : i != k -> j != l ->
  let G (w : 'M[bool]_(m, n)) i j := if w i j then q else - q in
  \sum_w G w i j * G w i l * (G w k j * G w k l) = 0.
Proof.
move=> ik jl G.
pose flip (w : 'M[bool]_(m, n)) := \matrix_(a, c) (w a c (+) ((a == i) && (c == j))).
have flipK : involutive flip by move=> w; apply/matrixP => a c; rewrite !mxE addbK.
have opposite w : G (flip w) i j * G (flip w) i l * (G (flip w) k j * G (flip w) k l)
    = - (G w i j * G w i l * (G w k j * G w k l)).
  rewrite /G !mxE !eqxx [l == j]eq_sym (negPf jl) [k == i]eq_sym (negPf ik) !addbF addbT if_neg.
  by case: (w i j); rewrite !mulNr ?opprK.
set S := \sum_w _; have : S = - S.
  by rewrite -sumrN {1}/S (reindex_inj (inv_inj flipK)); apply: eq_bigr => w _.
by move/eqP; rewrite -subr_eq0 opprK -mulr2n mulrn_eq0 => /eqP.
Qed.

(* The mean over all matrices of signs. *)
Theorem lemma_A2_small_signs (R : rcfType) m n (q : R) (norm : 'M[bool]_(m, n) -> R) :
  (m <= 3)%N -> (n <= 3)%N -> 0 < q ->
  (forall w : 'M[bool]_(m, n),
     largest_singular_value (\matrix_(i, j) if w i j then q else - q) (norm w)) ->
  (\sum_w norm w ^+ 2) / 2 ^+ (m * n) <= q ^+ 2 * (m%:R + n%:R).
Proof.
move=> m3 n3 q0 is_norm; pose p (w : 'M[bool]_(m, n)) : R := (2 ^+ (m * n))^-1.
have p0 w : 0 <= p w by rewrite invr_ge0 exprn_ge0 ?ler0n.
have p1 : \sum_w p w = 1.
  by rewrite sumr_const card_mx card_bool -mulr_natr natrX mulVf // expf_neq0 ?pnatr_eq0.
have mean f : weighted p0 p1 f = (\sum_w f w) / 2 ^+ (m * n).
  by rewrite mulr_suml; apply: eq_bigr => w _; rewrite mulrC.
rewrite -mean; apply: lemma_A2_small_signs_any_law m3 n3 q0 _ _ is_norm _ => //.
  by move=> w i j; rewrite mxE; case: (w i j); [left|right].
move=> i k j l ik jl; split=> //; rewrite mean; under eq_bigr do rewrite !mxE.
by rewrite flip_signs // mul0r.
Qed.

(* The error of the variances, which the text announces with Proposition 10 and does not bound.

   Let the window of w(t, a) leave out the part theta of the map, and let m be the mean square and
   a the mean of what it leaves out, b the mean of what it keeps, over the batch.  Zeros stand in
   for what is left out, so with the sums of what is kept and left out

     sigma_H^2(t, a) - sigma^2 = - theta (m - a^2) + theta (1 - theta) (b^2 - (a - b)^2).

   With M = max|h| it is at most theta (1 - theta) M^2, and in absolute value at most
   3 theta (1 - theta) M^2 where theta is at most a half, (1 - theta + theta^2) M^2 else; after a
   ReLU theta (1 - theta) M^2, a quarter of M^2 else.  Maps of two values attain what is said of
   windows that leave out at most half. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp Require Import zify.
From BatchNorm Require Import Convolution.
From BatchNorm.lange2022 Require Import lemma_8 equations_19_22 proposition_10.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Variance.
Variables (R : rcfType) (N r s k : nat) (h : 'I_N -> 'M[R]_(r, s)) (t a : 'I_k).
Hypotheses (N_gt0 : (0 < N)%N) (r_gt0 : (0 < r)%N) (s_gt0 : (0 < s)%N).
Local Notation theta := (part_left_out R r s t a).
Local Notation n := (pixels R N r s).

(* The mean over the batch of f(h) at the places in the window, or not in it, times their part. *)
Definition over (inside : bool) (f : R -> R) : R :=
  n^-1 * \sum_i \sum_x \sum_y f (h i x y) * ((kept t x && kept a y) == inside)%:R.

Lemma over_all f : n^-1 * (\sum_i \sum_x \sum_y f (h i x y)) = over true f + over false f.
Proof.
rewrite /over -mulrDr -big_split; congr (_ * _); apply: eq_bigr => i _ /=.
rewrite -big_split; apply: eq_bigr => x _ /=; rewrite -big_split; apply: eq_bigr => y _ /=.
by case: (_ && _); rewrite ?mulr0 ?mulr1 ?addr0 ?add0r.
Qed.
Lemma overD inside f g : over inside (fun z => f z + g z) = over inside f + over inside g.
Proof.
rewrite /over -mulrDr -big_split; congr (_ * _); apply: eq_bigr => i _ /=.
rewrite -big_split; apply: eq_bigr => x _ /=; rewrite -big_split; apply: eq_bigr => y _ /=.
exact: mulrDl.
Qed.
Lemma overZ inside c f : over inside (fun z => c * f z) = c * over inside f.
Proof.
rewrite /over [RHS]mulrCA; congr (_ * _); rewrite big_distrr; apply: eq_bigr => i _ /=.
rewrite big_distrr; apply: eq_bigr => x _ /=; rewrite big_distrr; apply: eq_bigr => y _ /=.
by rewrite mulrA.
Qed.
Lemma over_ext inside f g : f =1 g -> over inside f = over inside g.
Proof.
move=> fg; rewrite /over; congr (_ * _); apply: eq_bigr => i _; apply: eq_bigr => x _.
by apply: eq_bigr => y _; rewrite fg.
Qed.
Lemma over_le inside f g :
  (forall i x y, f (h i x y) <= g (h i x y)) -> over inside f <= over inside g.
Proof.
move=> fg; have n0 : 0 <= n^-1 by rewrite invr_ge0 ltW // pixels_gt0.
rewrite /over ler_wpmul2l //; apply: ler_sum => i _.
by apply: ler_sum => x _; apply: ler_sum => y _; rewrite ler_wpmul2r ?ler0n.
Qed.

Lemma over_one_out : over false (fun _ => 1) = theta.
Proof.
have -> : over false (fun _ => 1) = n^-1 * \sum_(i < N) (theta * (r * s)%:R).
  congr (_ * _); apply: eq_bigr => i _; rewrite -left_out_count //.
  by apply: eq_bigr => x _; apply: eq_bigr => y _; rewrite mul1r eqbF_neg.
rewrite sumr_const card_ord -mulr_natl natrM /pixels; field.
by rewrite !pnatr_eq0 -!lt0n N_gt0 r_gt0 s_gt0.
Qed.
Lemma over_one_in : over true (fun _ => 1) = 1 - theta.
Proof.
rewrite -over_one_out; apply/eqP; rewrite eq_sym subr_eq -over_all eq_sym; apply/eqP.
have -> : \sum_(i < N) \sum_(x < r) \sum_(y < s) 1 = n :> R.
  by rewrite !sumr_const !card_ord -!mulrnA /pixels -!natrM; congr _%:R; lia.
by rewrite mulVf // gt_eqF // pixels_gt0.
Qed.

(* A quadratic function of the entries, by its three means. *)
Lemma over_square inside c : over inside (fun z => (z - c) ^+ 2) =
  over inside (fun z => z ^+ 2) - 2 * c * over inside id + c ^+ 2 * over inside (fun _ => 1).
Proof.
transitivity (over inside (fun z => z ^+ 2 + (- (2 * c) * id z + c ^+ 2 * 1))).
  by apply: over_ext => z; rewrite /=; ring.
rewrite (overD _ (fun z => z ^+ 2)) (overD _ (fun z => - (2 * c) * id z)).
by rewrite (overZ _ _ id) (overZ _ _ (fun _ => 1)) mulNr addrA.
Qed.

(* ---- the statistics of the window and of the map by what is kept and left out ---- *)

Lemma entry_map (f : R -> R) i u v : f 0 = 0 -> f (entry (h i) u v) = entry (map_mx f (h i)) u v.
Proof.
by rewrite /entry => f0; case: (place r u) => // x; case: (place s v) => // y; rewrite mxE.
Qed.

Lemma window_function (f : R -> R) :
  n^-1 * (\sum_i window_sum r s (fun u v => f (entry (h i) u v)) t a) = over true f + f 0 * theta.
Proof.
have -> : \sum_i window_sum r s (fun u v => f (entry (h i) u v)) t a =
    \sum_i (\sum_x \sum_y (f (h i x y) - f 0) * ((kept t x && kept a y) == true)%:R) + f 0 * n.
  have -> : f 0 * n = \sum_(i < N) \sum_(x < r) \sum_(y < s) f 0.
    by rewrite !sumr_const !card_ord -!mulrnA /pixels -!natrM mulr_natr; congr (_ *+ _); lia.
  rewrite -big_split; apply: eq_bigr => i _ /=.
  transitivity (window_sum r s (entry (map_mx (fun z => f z - f 0) (h i))) t a +
      \sum_(x < r) \sum_(y < s) f 0).
    rewrite /window_sum -big_split; apply: eq_bigr => x _.
    rewrite -big_split; apply: eq_bigr => y _ /=.
    by rewrite -(@entry_map (fun z => f z - f 0)) ?subrr // subrK.
  rewrite window_sum_kept; congr (_ + _); apply: eq_bigr => x _; apply: eq_bigr => y _.
  by rewrite mxE eqb_id.
have nE : n != 0 by rewrite gt_eqF // pixels_gt0.
rewrite mulrDr mulrCA mulVf // mulr1.
rewrite -[X in X + _]/(over true (fun z => f z + - f 0)) overD.
rewrite (@over_ext _ (fun _ => - f 0) (fun _ => - f 0 * 1)) => [|z]; last by rewrite mulr1.
by rewrite (overZ _ _ (fun _ => 1)) over_one_in; ring.
Qed.

Local Notation Ain := (over true id).
Local Notation Aout := (over false id).
Local Notation Qout := (over false (fun z => z ^+ 2)).

Lemma mean_at_kept : mean_at h t a = Ain.
Proof. by rewrite /mean_at (window_function id) mul0r addr0. Qed.

Lemma variance_error : variance_at h t a - map_variance h = - Qout + 2 * Ain * Aout + Aout ^+ 2.
Proof.
rewrite /variance_at (window_function (fun z => (z - mean_at h t a) ^+ 2)) mean_at_kept.
have mE : map_mean h = Ain + Aout by rewrite /map_mean (over_all id).
rewrite /map_variance (over_all (fun z => (z - map_mean h) ^+ 2)) mE !over_square.
by rewrite over_one_in over_one_out /=; ring.
Qed.

Variable M : R.
Hypothesis bound : forall i x y, `|h i x y| <= M.

Lemma M_ge0 : 0 <= M.
Proof. exact: le_trans (normr_ge0 _) (bound (Ordinal N_gt0) (Ordinal r_gt0) (Ordinal s_gt0)). Qed.

Lemma over_id_le inside : `|over inside id| <= M * over inside (fun _ => 1).
Proof.
have M1 : over inside (fun _ => M) = M * over inside (fun _ => 1).
  by rewrite -overZ; apply: over_ext => z; rewrite mulr1.
rewrite ler_norml -M1 -mulN1r -overZ; apply/andP; split; apply: over_le => i x y.
  by have := bound i x y; rewrite ler_norml mulN1r => /andP[].
by have := bound i x y; rewrite ler_norml => /andP[].
Qed.
Lemma over_ge0 inside f : (forall i x y, 0 <= f (h i x y)) -> 0 <= over inside f.
Proof.
move=> f0; have <- : over inside (fun _ => 0 * 0) = 0 by rewrite overZ mul0r.
by apply: over_le => i x y; rewrite mul0r.
Qed.
Lemma theta_within : 0 <= theta <= 1.
Proof.
have := @over_ge0 false (fun _ => 1) (fun _ _ _ => ler01); rewrite over_one_out => ->.
by have := @over_ge0 true (fun _ => 1) (fun _ _ _ => ler01); rewrite over_one_in subr_ge0.
Qed.

(* The means exist: a of what is left out, b of what is kept. *)
Lemma mean_of inside : exists2 c, over inside id = over inside (fun _ => 1) * c & `|c| <= M.
Proof.
have part0 : 0 <= over inside (fun _ => 1) by apply: over_ge0 => *; apply: ler01.
have le := over_id_le inside; have [z|nz] := eqVneq (over inside (fun _ => 1)) 0.
  exists 0; last by rewrite normr0 M_ge0.
  move: le; rewrite z !mulr0 => le0.
  by apply/eqP; rewrite -normr_eq0 eq_le le0 normr_ge0.
have p : 0 < over inside (fun _ => 1) by rewrite lt_def nz.
exists (over inside id / over inside (fun _ => 1)); first by rewrite mulrC divfK.
by rewrite normrM normfV (gtr0_norm p) ler_pdivr_mulr.
Qed.

Lemma from_above : variance_at h t a - map_variance h <= theta * (1 - theta) * M ^+ 2.
Proof.
rewrite variance_error; have [c cE _] := mean_of false; have [b bE bM] := mean_of true.
have /andP[t0 t1] := theta_within; rewrite over_one_out in cE; rewrite over_one_in in bE.
have spread : 0 <= Qout - theta * c ^+ 2.
  have -> : Qout - theta * c ^+ 2 = over false (fun z => (z - c) ^+ 2).
    by rewrite over_square over_one_out cE; ring.
  by apply: over_ge0 => i x y; apply: sqr_ge0.
rewrite cE bE -subr_ge0.
have -> : theta * (1 - theta) * M ^+ 2 -
    (- Qout + 2 * ((1 - theta) * b) * (theta * c) + (theta * c) ^+ 2) =
    (Qout - theta * c ^+ 2) + theta * (1 - theta) * ((M ^+ 2 - b ^+ 2) + (c - b) ^+ 2) by ring.
have w0 : 0 <= theta * (1 - theta) by rewrite mulr_ge0 // subr_ge0.
rewrite addr_ge0 // mulr_ge0 // addr_ge0 ?sqr_ge0 // subr_ge0 -[b ^+ 2]real_normK ?num_real //.
by rewrite ler_sqr ?nnegrE ?normr_ge0 ?M_ge0.
Qed.

Lemma Qout_le : 0 <= theta * M ^+ 2 - Qout.
Proof.
rewrite subr_ge0 -over_one_out mulrC -overZ; apply: over_le => i x y; rewrite mulr1.
by rewrite -[h i x y ^+ 2]real_normK ?num_real // ler_sqr ?nnegrE ?normr_ge0 ?M_ge0.
Qed.
Lemma square_le c : `|c| <= M -> 0 <= M ^+ 2 - c ^+ 2.
Proof.
by move=> cM; rewrite subr_ge0 -[c ^+ 2]real_normK ?num_real // ler_sqr ?nnegrE ?normr_ge0 ?M_ge0.
Qed.
Lemma theta_le : theta <= 2^-1 -> 0 <= 1 - 2 * theta.
Proof. by move=> small; rewrite subr_ge0 mulrC -ler_pdivl_mulr ?ltr0n // mul1r. Qed.

Lemma any_window : `|variance_at h t a - map_variance h| <= (1 - theta + theta ^+ 2) * M ^+ 2.
Proof.
have /andP[t0 t1] := theta_within; have [c cE cM] := mean_of false; have [b bE bM] := mean_of true.
rewrite over_one_out in cE; rewrite over_one_in in bE.
rewrite ler_norml; apply/andP; split; last first.
  apply: le_trans from_above _; rewrite ler_wpmul2r ?sqr_ge0 // -subr_ge0.
  have -> : 1 - theta + theta ^+ 2 - theta * (1 - theta) = (1 - theta) ^+ 2 + theta ^+ 2 by ring.
  by rewrite addr_ge0 ?sqr_ge0.
rewrite variance_error cE bE -subr_ge0.
have -> : - Qout + 2 * ((1 - theta) * b) * (theta * c) + (theta * c) ^+ 2 -
    - ((1 - theta + theta ^+ 2) * M ^+ 2) = (theta * M ^+ 2 - Qout) +
    (theta * c + (1 - theta) * b) ^+ 2 + (1 - theta) ^+ 2 * (M ^+ 2 - b ^+ 2) by ring.
apply: addr_ge0; last by rewrite mulr_ge0 ?sqr_ge0 ?square_le.
by apply: addr_ge0; [exact: Qout_le|exact: sqr_ge0].
Qed.

Lemma small_window : theta <= 2^-1 ->
  `|variance_at h t a - map_variance h| <= 3 * theta * (1 - theta) * M ^+ 2.
Proof.
move=> /theta_le half; have /andP[t0 t1] := theta_within; rewrite -subr_ge0 in t1.
have [c cE cM] := mean_of false; have [b bE bM] := mean_of true.
rewrite over_one_out in cE; rewrite over_one_in in bE.
have w0 : 0 <= theta * (1 - theta) by rewrite mulr_ge0.
rewrite ler_norml; apply/andP; split; last first.
  apply: le_trans from_above _; rewrite ler_wpmul2r ?sqr_ge0 // -subr_ge0.
  have -> : 3 * theta * (1 - theta) - theta * (1 - theta) =
    theta * (1 - theta) + theta * (1 - theta) by ring.
  by rewrite addr_ge0.
rewrite variance_error cE bE -subr_ge0.
have -> : - Qout + 2 * ((1 - theta) * b) * (theta * c) + (theta * c) ^+ 2 -
    - (3 * theta * (1 - theta) * M ^+ 2) = theta * (1 - theta) * ((c + b) ^+ 2 +
    (M ^+ 2 - b ^+ 2)) + (theta * M ^+ 2 - Qout) + theta * (1 - 2 * theta) * (M ^+ 2 - c ^+ 2).
  by ring.
apply: addr_ge0; last by rewrite !mulr_ge0 ?square_le.
apply: addr_ge0; last exact: Qout_le.
by rewrite mulr_ge0 // addr_ge0 ?sqr_ge0 ?square_le.
Qed.

Lemma squares_le inside : (forall i x y, 0 <= h i x y) ->
  over inside (fun z => z ^+ 2) <= M * over inside id.
Proof.
move=> h0; rewrite -overZ; apply: over_le => i x y; rewrite expr2 ler_wpmul2r //.
exact: le_trans (ler_norm _) (bound i x y).
Qed.

Lemma rectified_small_window : (forall i x y, 0 <= h i x y) -> theta <= 2^-1 ->
  `|variance_at h t a - map_variance h| <= theta * (1 - theta) * M ^+ 2.
Proof.
move=> h0 /theta_le half; have /andP[t0 t1] := theta_within.
have [c cE cM] := mean_of false; rewrite over_one_out in cE.
have id0 inside : 0 <= over inside id by apply: over_ge0.
rewrite ler_norml from_above andbT variance_error -subr_ge0.
have -> : - Qout + 2 * Ain * Aout + Aout ^+ 2 - - (theta * (1 - theta) * M ^+ 2) =
    (M * Aout - Qout) + 2 * Ain * Aout + theta * (1 - 2 * theta) * M * (M - c) +
    theta ^+ 2 * (M - c) ^+ 2 by rewrite cE; ring.
have Mc : 0 <= M - c by rewrite subr_ge0 (le_trans (ler_norm _)).
apply: addr_ge0; last by rewrite mulr_ge0 ?sqr_ge0.
apply: addr_ge0; last by rewrite !mulr_ge0 ?M_ge0.
apply: addr_ge0; last by rewrite mulr_ge0 ?id0 // mulr_ge0 ?ler0n ?id0.
by rewrite subr_ge0 squares_le.
Qed.

Lemma rectified : (forall i x y, 0 <= h i x y) ->
  `|variance_at h t a - map_variance h| <= M ^+ 2 / 4.
Proof.
move=> h0; have M2 : 0 <= M ^+ 2 by apply: sqr_ge0.
have n0 : 0 <= n^-1 by rewrite invr_ge0 ltW // pixels_gt0.
rewrite ler_norml; apply/andP; split; last first.
  apply: le_trans from_above _; rewrite mulrC ler_wpmul2l // -subr_ge0.
  have -> : 4^-1 - theta * (1 - theta) = (theta - 2^-1) ^+ 2 by field.
  exact: sqr_ge0.
have v0 : 0 <= variance_at h t a.
  apply: mulr_ge0 => //; apply: sumr_ge0 => i _; apply: sumr_ge0 => x _; apply: sumr_ge0 => y _.
  exact: sqr_ge0.
have mv : map_variance h <= M ^+ 2 / 4.
  have mE : map_mean h = Ain + Aout by rewrite /map_mean (over_all id).
  rewrite /map_variance (over_all (fun z => (z - map_mean h) ^+ 2)) mE !over_square.
  rewrite over_one_in over_one_out -subr_ge0; set Qin := over true _.
  have Qi := squares_le true h0; have Qo := squares_le false h0; rewrite -/Qin in Qi.
  have -> : M ^+ 2 / 4 - (Qin - 2 * (Ain + Aout) * Ain + (Ain + Aout) ^+ 2 * (1 - theta)
      + (Qout - 2 * (Ain + Aout) * Aout + (Ain + Aout) ^+ 2 * theta)) =
    (M * Ain - Qin) + (M * Aout - Qout) + (M / 2 - (Ain + Aout)) ^+ 2 by field.
  apply: addr_ge0; last exact: sqr_ge0.
  by apply: addr_ge0; rewrite subr_ge0.
by rewrite ler_subr_addr addrC; apply: le_trans v0; rewrite subr_le0.
Qed.
End Variance.

(* The error, m, c and b being the mean square and the mean of what is left out and the mean of
   what is kept; where nothing is left out, or kept, they are any numbers. *)
Theorem proposition_10_variance (R : rcfType) N r s k (h : 'I_N -> 'M[R]_(r, s)) (t a : 'I_k)
    m c b :
  let theta := part_left_out R r s t a in
  (0 < N)%N -> (0 < r)%N -> (0 < s)%N ->
  over h t a false (fun z => z ^+ 2) = theta * m -> over h t a false id = theta * c ->
  over h t a true id = (1 - theta) * b ->
  variance_at h t a - map_variance h =
  - (theta * (m - c ^+ 2)) + theta * (1 - theta) * (b ^+ 2 - (c - b) ^+ 2).
Proof.
move=> theta N0 r0 s0 mE cE bE; rewrite variance_error // mE cE bE.
by move: theta {mE cE bE} => theta; ring.
Qed.

Theorem proposition_10_variance_from_above (R : rcfType) N r s k (h : 'I_N -> 'M[R]_(r, s))
    (t a : 'I_k) M :
  let theta := part_left_out R r s t a in
  (0 < N)%N -> (0 < r)%N -> (0 < s)%N -> (forall i x y, `|h i x y| <= M) ->
  variance_at h t a - map_variance h <= theta * (1 - theta) * M ^+ 2.
Proof. by move=> theta N0 r0 s0 bound; apply: from_above. Qed.

(* In absolute value, where the window leaves out at most half, which all do if the corner's does; *)
Theorem proposition_10_variance_bound (R : rcfType) N r s k (h : 'I_N -> 'M[R]_(r, s))
    (t a : 'I_k) M :
  let theta := part_left_out R r s t a in
  (0 < N)%N -> (0 < r)%N -> (0 < s)%N -> (forall i x y, `|h i x y| <= M) -> theta <= 2^-1 ->
  `|variance_at h t a - map_variance h| <= 3 * theta * (1 - theta) * M ^+ 2.
Proof. by move=> theta N0 r0 s0 bound; apply: small_window. Qed.

(* and whatever it leaves out. *)
Theorem proposition_10_variance_any_window (R : rcfType) N r s k (h : 'I_N -> 'M[R]_(r, s))
    (t a : 'I_k) M :
  let theta := part_left_out R r s t a in
  (0 < N)%N -> (0 < r)%N -> (0 < s)%N -> (forall i x y, `|h i x y| <= M) ->
  `|variance_at h t a - map_variance h| <= (1 - theta + theta ^+ 2) * M ^+ 2.
Proof. by move=> theta N0 r0 s0 bound; apply: any_window. Qed.

(* For maps after a ReLU, *)
Theorem proposition_10_variance_small_windows (R : rcfType) N r s k (h : 'I_N -> 'M[R]_(r, s))
    (t a : 'I_k) M :
  let theta := part_left_out R r s t a in
  (0 < N)%N -> (0 < r)%N -> (0 < s)%N -> (forall i x y, 0 <= h i x y <= M) -> theta <= 2^-1 ->
  `|variance_at h t a - map_variance h| <= theta * (1 - theta) * M ^+ 2.
Proof.
move=> theta N0 r0 s0 bound; apply: rectified_small_window => // i x y.
  by have /andP[h0 hM] := bound i x y; rewrite ger0_norm.
by have /andP[] := bound i x y.
Qed.

(* and a quarter at every theta. *)
Theorem proposition_10_variance_rectified (R : rcfType) N r s k (h : 'I_N -> 'M[R]_(r, s))
    (t a : 'I_k) M :
  (0 < N)%N -> (0 < r)%N -> (0 < s)%N -> (forall i x y, 0 <= h i x y <= M) ->
  `|variance_at h t a - map_variance h| <= M ^+ 2 / 4.
Proof.
move=> N0 r0 s0 bound; apply: rectified => // i x y; have /andP[h0 hM] := bound i x y => //.
by rewrite ger0_norm.
Qed.

(* ---- maps of one value in the window and of another outside of it ---- *)

Section TwoValues.
Variables (R : rcfType) (N r s k : nat) (inner outer : R) (t a : 'I_k).
Hypotheses (N_gt0 : (0 < N)%N) (r_gt0 : (0 < r)%N) (s_gt0 : (0 < s)%N).
Definition two_values : 'I_N -> 'M[R]_(r, s) :=
  fun _ => \matrix_(x, y) (if kept t x && kept a y then inner else outer).
Local Notation theta := (part_left_out R r s t a).

Lemma over_two_values inside f : over two_values t a inside f =
  f (if inside then inner else outer) * over two_values t a inside (fun _ => 1).
Proof.
rewrite -overZ /over; congr (_ * _); apply: eq_bigr => i _; apply: eq_bigr => x _.
apply: eq_bigr => y _; rewrite mxE mulr1.
by case: (_ && _); case: inside; rewrite ?mulr0.
Qed.

Lemma two_values_error : variance_at two_values t a - map_variance two_values =
  - (theta * outer ^+ 2) + 2 * ((1 - theta) * inner) * (theta * outer) + (theta * outer) ^+ 2.
Proof.
have E := over_two_values; have in1 := over_one_in two_values t a N_gt0 r_gt0 s_gt0.
have out1 := over_one_out two_values t a N_gt0 r_gt0 s_gt0.
rewrite variance_error // (E true id) (E false id) (E false (fun z => z ^+ 2)) in1 out1 /=.
by ring.
Qed.
End TwoValues.

(* What is left out is q and the rest -q: the bound of windows that leave out at most half. *)
Theorem proposition_10_variance_attained (R : rcfType) N r s k (q : R) (t a : 'I_k) :
  let theta := part_left_out R r s t a in let h := @two_values R N r s k (- q) q t a in
  (0 < N)%N -> (0 < r)%N -> (0 < s)%N ->
  variance_at h t a - map_variance h = - (3 * theta * (1 - theta) * q ^+ 2).
Proof. by move=> theta h N0 r0 s0; rewrite two_values_error // -/theta; ring. Qed.

(* The rest 0: the same after a ReLU. *)
Theorem proposition_10_variance_rectified_attained (R : rcfType) N r s k (q : R) (t a : 'I_k) :
  let theta := part_left_out R r s t a in let h := @two_values R N r s k 0 q t a in
  (0 < N)%N -> (0 < r)%N -> (0 < s)%N ->
  variance_at h t a - map_variance h = - (theta * (1 - theta) * q ^+ 2).
Proof. by move=> theta h N0 r0 s0; rewrite two_values_error // -/theta; ring. Qed.

(* A constant map has the variance 0, and its columns that of the bound from above: the ratio of the
   two has no bound. *)
Theorem constant_map (R : rcfType) N r s k (q : R) (t a : 'I_k) :
  let theta := part_left_out R r s t a in let h := fun _ : 'I_N => const_mx q : 'M[R]_(r, s) in
  (0 < N)%N -> (0 < r)%N -> (0 < s)%N ->
  column_variance h (number (t, a)) = theta * (1 - theta) * q ^+ 2 /\ map_variance h = 0.
Proof.
move=> theta h N0 r0 s0; have mE : map_mean h = q.
  rewrite /map_mean (eq_bigr (fun _ => (r * s)%:R * q)) => [|i _]; last first.
    under eq_bigr do under eq_bigr do rewrite mxE.
    by rewrite !sumr_const !card_ord -mulrnA mulr_natl mulnC.
  rewrite sumr_const card_ord -mulr_natl /pixels natrM; field.
  by rewrite !pnatr_eq0 -!lt0n N0 r0 s0.
have v0 : map_variance h = 0.
  rewrite /map_variance mE big1 ?mulr0 // => i _; rewrite big1 // => x _; rewrite big1 // => y _.
  by rewrite mxE subrr expr0n.
split=> //; rewrite equation_20; have := two_values_error q q t a N0 r0 s0.
have -> : @two_values R N r s k q q t a = h.
  rewrite /two_values /h (_ : \matrix_(x, y) _ = const_mx q) //.
  by apply/matrixP => x y; rewrite !mxE; case: ifP.
by rewrite v0 subr0 => ->; rewrite -/theta; ring.
Qed.

(* Proposition 10: the mean of a column of the unfolded map, (19), against the channel's, (21).

   The window of w(t, a) takes zeros for the part theta of the map that it leaves out, so the error
   is minus the sum of what is left out over N r s: at most theta max|h|, for every r, s and odd k,
   with equality for a constant map.  The printed bound is not less if one of r and s is at least
   (k - 1)/2.  If both are less it counts rows and columns that do not exist, and fails. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp Require Import zify.
From BatchNorm Require Import Convolution.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Error.
Variables (R : rcfType) (N r s k : nat) (h : 'I_N -> 'M[R]_(r, s)) (t a : 'I_k).
Local Notation theta := (part_left_out R r s t a).

Lemma mean_error : mean_at h t a - map_mean h =
  - ((pixels R N r s)^-1 * \sum_i \sum_x \sum_y h i x y * (~~ (kept t x && kept a y))%:R).
Proof.
rewrite /mean_at /map_mean -mulrBr -mulrN -sumrB -sumrN; congr (_ * _); apply: eq_bigr => i _.
rewrite window_sum_kept -sumrB -sumrN; apply: eq_bigr => x _.
rewrite -sumrB -sumrN; apply: eq_bigr => y _.
by case: (_ && _); rewrite ?mulr1 ?mulr0 ?subrr ?oppr0 ?sub0r.
Qed.

Hypotheses (N_gt0 : (0 < N)%N) (r_gt0 : (0 < r)%N) (s_gt0 : (0 < s)%N).

Lemma pixels_gt0 : 0 < pixels R N r s.
Proof. by rewrite !mulr_gt0 ?ltr0n. Qed.

Lemma outside_le n (b : 'I_k) : (outside n b <= n)%N.
Proof. exact: geq_minr. Qed.

(* How many places are left out. *)
Lemma left_out_count :
  \sum_(x < r) \sum_(y < s) (~~ (kept t x && kept a y))%:R = theta * (r * s)%:R.
Proof.
have -> : \sum_(x < r) \sum_(y < s) (~~ (kept t x && kept a y))%:R =
    (r * s)%:R - (r - outside r t)%:R * (s - outside s a)%:R :> R.
  rewrite -!count_kept !natr_sum big_distrl /=.
  have -> : (r * s)%:R = \sum_(x < r) \sum_(y < s) 1 :> R.
    by rewrite !sumr_const !card_ord -mulrnA mulnC.
  rewrite -sumrB; apply: eq_bigr => x _; rewrite big_distrr -sumrB; apply: eq_bigr => y _ /=.
  by rewrite -natrM mulnb; case: (_ && _); rewrite ?subrr ?subr0.
rewrite !natrB ?outside_le // natrM /part_left_out.
by field; rewrite !pnatr_eq0 -!lt0n r_gt0 s_gt0.
Qed.

Lemma sharp_bound M : (forall i x y, `|h i x y| <= M) ->
  `|mean_at h t a - map_mean h| <= theta * M.
Proof.
move=> bound; have p0 := pixels_gt0; rewrite mean_error normrN normrM gtr0_norm ?invr_gt0 //.
rewrite mulrC ler_pdivr_mulr //.
have -> : theta * M * pixels R N r s = \sum_(i < N) M * (theta * (r * s)%:R).
  by rewrite sumr_const card_ord -mulr_natl /pixels natrM; ring.
apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => i _.
rewrite -left_out_count big_distrr /=; apply: le_trans (ler_norm_sum _ _ _) _.
apply: ler_sum => x _; rewrite big_distrr /=; apply: le_trans (ler_norm_sum _ _ _) _.
by apply: ler_sum => y _; rewrite normrM normr_nat ler_wpmul2r.
Qed.

(* The printed number, where one of r and s is at least (k - 1)/2. *)
Lemma theta_le_printed : odd k -> (half k <= maxn r s)%N ->
  theta <= (k%:R - 1) * (1 / (2 * r%:R) + 1 / (2 * s%:R) - (k%:R - 1) / (4 * r%:R * s%:R)).
Proof.
move=> ok large; set m := half k.
have kE : k%:R - 1 = 2 * m%:R :> R.
  have kk : k = (2 * half k).+1 by rewrite /half; move: ok; have := ltn_ord t; lia.
  by rewrite {1}kk mulrSr addrK natrM.
have r0 : 0 < r%:R :> R by rewrite ltr0n. have s0 : 0 < s%:R :> R by rewrite ltr0n.
have -> : (k%:R - 1) * (1 / (2 * r%:R) + 1 / (2 * s%:R) - (k%:R - 1) / (4 * r%:R * s%:R)) =
    1 - (1 - m%:R / r%:R) * (1 - m%:R / s%:R) :> R.
  by rewrite kE; field; rewrite !gt_eqF.
rewrite /part_left_out ler_add2l ler_opp2; set i := outside r t; set j := outside s a.
have im : i%:R / r%:R <= m%:R / r%:R :> R.
  by rewrite ler_wpmul2r ?invr_ge0 ?ler0n // ler_nat outside_le_half.
have jm : j%:R / s%:R <= m%:R / s%:R :> R.
  by rewrite ler_wpmul2r ?invr_ge0 ?ler0n // ler_nat outside_le_half.
have i1 : 0 <= 1 - i%:R / r%:R :> R by rewrite subr_ge0 ler_pdivr_mulr // mul1r ler_nat outside_le.
have j1 : 0 <= 1 - j%:R / s%:R :> R by rewrite subr_ge0 ler_pdivr_mulr // mul1r ler_nat outside_le.
have [mr|mr] := leP (m%:R / r%:R : R) 1.
  have r1 : 0 <= 1 - m%:R / r%:R :> R by rewrite subr_ge0.
  apply: le_trans (_ : (1 - m%:R / r%:R) * (1 - j%:R / s%:R) <= _).
    by rewrite ler_wpmul2l // ler_add2l ler_opp2.
  by rewrite ler_wpmul2r // ler_add2l ler_opp2.
have s1 : 0 <= 1 - m%:R / s%:R :> R.
  move: mr; rewrite ltr_pdivl_mulr // mul1r ltr_nat subr_ge0 ler_pdivr_mulr // mul1r ler_nat => mr.
  by move: large; rewrite -/m leq_max leqNgt mr.
apply: le_trans (_ : 0 <= _); last exact: mulr_ge0.
by rewrite mulr_le0_ge0 // subr_le0 ltW.
Qed.
End Error.

(* The error itself: minus what the window leaves out; the padding adds nothing. *)
Theorem proposition_10_left_out (R : rcfType) N r s k (h : 'I_N -> 'M[R]_(r, s)) (t a : 'I_k) :
  mean_at h t a - map_mean h =
  - ((pixels R N r s)^-1 * \sum_i \sum_x \sum_y h i x y * (~~ (kept t x && kept a y))%:R).
Proof. exact: mean_error. Qed.

(* Sharper than printed, for every r, s and k. *)
Theorem proposition_10_sharp (R : rcfType) N r s k (h : 'I_N -> 'M[R]_(r, s)) (t a : 'I_k) M :
  (0 < N)%N -> (0 < r)%N -> (0 < s)%N -> (forall i x y, `|h i x y| <= M) ->
  `|mean_at h t a - map_mean h| <= part_left_out R r s t a * M.
Proof. by move=> N0 r0 s0 bound; exact: (sharp_bound t a N0 r0 s0 bound). Qed.

(* With the hypothesis that it needs: one of r and s is at least (k - 1)/2. *)
Theorem proposition_10_corrected (R : rcfType) N r s k (h : 'I_N -> 'M[R]_(r, s)) (t a : 'I_k) M :
  (0 < N)%N -> (0 < r)%N -> (0 < s)%N -> odd k -> (half k <= maxn r s)%N ->
  (forall i x y, `|h i x y| <= M) ->
  `|mean_at h t a - map_mean h| <=
  (k%:R - 1) * (1 / (2 * r%:R) + 1 / (2 * s%:R) - (k%:R - 1) / (4 * r%:R * s%:R)) * M.
Proof.
move=> N0 r0 s0 ok large bound; apply: le_trans (sharp_bound t a N0 r0 s0 bound) _.
have M0 : 0 <= M by apply: le_trans (normr_ge0 _) (bound (Ordinal N0) (Ordinal r0) (Ordinal s0)).
by rewrite ler_wpmul2r //; apply: (theta_le_printed _ t a N0).
Qed.

(* The sharp bound is attained by a constant map. *)
Theorem proposition_10_attained (R : rcfType) N r s k (q : R) (t a : 'I_k) :
  (0 < N)%N -> (0 < r)%N -> (0 < s)%N ->
  let h := fun _ : 'I_N => const_mx q : 'M[R]_(r, s) in
  mean_at h t a - map_mean h = - (part_left_out R r s t a * q).
Proof.
move=> N0 r0 s0 h; rewrite mean_error; congr (- _); have p0 := pixels_gt0 R N0 r0 s0.
have -> : \sum_i \sum_x \sum_y h i x y * (~~ (kept t x && kept a y))%:R =
    \sum_(i < N) q * (part_left_out R r s t a * (r * s)%:R).
  apply: eq_bigr => i _; rewrite -left_out_count // big_distrr; apply: eq_bigr => x _ /=.
  by rewrite big_distrr; apply: eq_bigr => y _; rewrite mxE.
rewrite sumr_const card_ord -mulr_natl natrM /pixels; field.
by rewrite !pnatr_eq0 -!lt0n N0 r0 s0.
Qed.

(* By how much the printed number is wrong: less than theta is where this is positive, as it is if both
   r and s are below (k - 1)/2 and the window keeps nothing. *)
Theorem proposition_10_how_much (R : rcfType) r s k (t a : 'I_k) :
  let theta := part_left_out R r s t a in (0 < r)%N -> (0 < s)%N ->
  theta - (k%:R - 1) * (1 / (2 * r%:R) + 1 / (2 * s%:R) - (k%:R - 1) / (4 * r%:R * s%:R)) =
  ((k%:R - 1) / (2 * r%:R) - 1) * ((k%:R - 1) / (2 * s%:R) - 1) - (1 - theta).
Proof.
move=> theta r0 s0; move: theta => theta; field.
by rewrite !pnatr_eq0 -!lt0n r0 s0.
Qed.

(* The kernel's middle makes no error. *)
Theorem proposition_10_middle (R : rcfType) N r s k (h : 'I_N -> 'M[R]_(r, s)) (t : 'I_k) :
  t = half k :> nat -> mean_at h t t = map_mean h.
Proof.
move=> middle; apply/eqP; rewrite -subr_eq0 mean_error oppr_eq0; apply/eqP.
rewrite big1 ?mulr0 // => i _; rewrite big1 // => x _; rewrite big1 // => y _.
have [kx ky] : kept t x /\ kept t y by rewrite /kept; have := ltn_ord x; have := ltn_ord y; lia.
by rewrite kx ky mulr0.
Qed.

(* (35), the first line of the proof. *)
Theorem equation_35 (R : rcfType) N r s k (h : 'I_N -> 'M[R]_(r, s)) (t a : 'I_k) :
  (mean_at h t a - map_mean h) ^+ 2 = 1 / (N%:R * r%:R * s%:R) ^+ 2 *
    (\sum_i window_sum r s (entry (h i)) t a - \sum_i \sum_x \sum_y h i x y) ^+ 2.
Proof. by rewrite /mean_at /map_mean -mulrBr exprMn exprVn div1r. Qed.

(* Both forms of the bound that the proof's last display has. *)
Theorem proposition_10_last_display (R : rcfType) (k r s : R) : r != 0 -> s != 0 ->
  ((k - 1) * (r + s) - (k - 1) ^+ 2 / 2) / (2 * r * s) =
  (k - 1) * (1 / (2 * r) + 1 / (2 * s) - (k - 1) / (4 * r * s)).
Proof. by move=> r0 s0; field; rewrite r0 s0. Qed.

(* As printed, for all r, s and odd k, it fails: r = s = N = 1, k = 5, h = 1, w(1, 1).  The error
   is 1 and the bound is 0. *)
Theorem proposition_10_refuted (R : rcfType) :
  exists N r s k (h : 'I_N -> 'M[R]_(r, s)) (t a : 'I_k) (M : R),
  [/\ (0 < N)%N && (0 < r)%N && (0 < s)%N && odd k,
      (forall i x y, `|h i x y| <= M) & exists i x y, `|h i x y| = M]
  /\ (k%:R - 1) * (1 / (2 * r%:R) + 1 / (2 * s%:R) - (k%:R - 1) / (4 * r%:R * s%:R)) * M <
     `|mean_at h t a - map_mean h|.
Proof.
exists 1%N, 1%N, 1%N, 5%N, (fun _ => const_mx 1), ord0, ord0, 1; split.
  by split=> // [i x y|]; [|exists ord0, ord0, ord0]; rewrite mxE normr1.
rewrite proposition_10_attained // /part_left_out mulr1 normrN.
have -> : (outside 1 (ord0 : 'I_5))%:R = 1 :> R by [].
have -> : 1 - (1 - 1 / 1) * (1 - 1 / 1) = 1 :> R by field.
rewrite normr1 mulr1.
have -> : (5 - 1) * (1 / (2 * 1) + 1 / (2 * 1) - (5 - 1) / (4 * 1 * 1)) = 0 :> R.
  by field.
exact: ltr01.
Qed.

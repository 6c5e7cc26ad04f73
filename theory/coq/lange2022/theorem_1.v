(* Theorem 1: the invariance under a scaling of a unit; the proof, (25), the maximum over the
   nonzero eigenvalues, and (26) with an explicit constant for the smallest network
   (a b - 1)^2/2; and the rate of every step on its diagonal.

     largest_rate H alpha M    M is the largest |1 - alpha l| over the nonzero eigenvalues l of H
     product_loss (a, b)       (a b - 1)^2/2, minimal on the hyperbola a b = 1
     squared_distance p d      d is the least |p - (a, b)|^2 with a b = 1, a > 0 *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct ConditionNumber Differentiation TwoByTwo.
From BatchNorm.lange2022 Require Import proposition_11 gradient_descent.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Definitions.
Variable R : rcfType.

Definition largest_rate n (H : 'M[R]_n) alpha M :=
  (exists l x, [/\ eigenvector H l x, l != 0 & M = `|1 - alpha * l|])
  /\ forall l x, eigenvector H l x -> l != 0 -> `|1 - alpha * l| <= M.
Definition smallest_nonzero_eigenvalue n (H : 'M[R]_n) l :=
  [/\ exists x, eigenvector H l x, l != 0 & forall k x, eigenvector H k x -> k != 0 -> l <= k].

Definition product_loss (y : 'cV[R]_2) : R := (y 0 0 * y 1 0 - 1) ^+ 2 / 2.
Definition squared_distance (p : 'cV[R]_2) (d : R) :=
  (exists a b : R, [/\ a * b = 1, 0 < a & d = sq (p - pair a b)])
  /\ forall a b : R, a * b = 1 -> 0 < a -> d <= sq (p - pair a b).
End Definitions.

(* ---- the network output is invariant ---- *)

Definition relu (R : rcfType) (z : R) : R := if 0 < z then z else 0.

(* Under a scaling of the row and of the bias of a unit. *)
Theorem invariance_corrected (R : rcfType) n (w x : 'cV[R]_n) (b alpha : R) : 0 < alpha ->
  relu (alpha * dot w x + alpha * b) / alpha = relu (dot w x + b).
Proof.
move=> a0; rewrite -mulrDr /relu pmulr_rgt0 //.
by case: ifP; rewrite ?mul0r // mulrAC mulfV ?mul1r // gt_eqF.
Qed.

(* Where the unit stays open, g = 1, or closed, g = 0. *)
Theorem invariance_open_corrected (R : rcfType) n (w x : 'cV[R]_n) (b alpha g : R) : 0 < alpha ->
  g / alpha * (alpha * dot w x + alpha * b) = g * (dot w x + b).
Proof. by move=> a0; field; rewrite gt_eqF. Qed.

(* ---- (24) and (25) ---- *)

(* The gradient of L_* at theta_star is zero, and put in. *)
Theorem equation_24 (R : rcfType) n (L : 'cV[R]_n -> R) (theta_star v : 'cV[R]_n) (alpha : R)
    (slope g_k g_star : 'cV[R]_n) :
  let theta_k := theta_star + v in let L_star t := L t - dot slope t in
  0 < alpha -> is_gradient L theta_star slope ->
  is_gradient L_star theta_k g_k -> is_gradient L_star theta_star g_star ->
  theta_k - alpha *: g_k - theta_star = theta_k - theta_star - alpha *: (g_k - g_star).
Proof.
move=> theta_k L_star a0 slopeL _ grad_star; have -> : g_star = 0.
  by rewrite (gradient_unique grad_star (gradient_less_slope slope slopeL)) subrr.
by rewrite subr0 addrAC.
Qed.

(* The vectors whose norms (25) compares. *)
Theorem equation_25_exactly (R : rcfType) n (L : 'cV[R]_n -> R) (theta_star v : 'cV[R]_n)
    (alpha : R) (slope g_k g_star : 'cV[R]_n) (T : 'M[R]_n) :
  let theta_k := theta_star + v in let L_star t := L t - dot slope t in
  let e_k := g_k - g_star - T *m (theta_k - theta_star) in
  0 < alpha -> is_gradient L theta_star slope ->
  is_gradient L_star theta_k g_k -> is_gradient L_star theta_star g_star ->
  is_hessian L_star theta_star T ->
  theta_k - alpha *: g_k - theta_star =
  theta_k - theta_star - alpha *: (T *m (theta_k - theta_star)) - alpha *: e_k.
Proof.
move=> theta_k L_star e_k a0 slopeL _ grad_star _.
by rewrite (split_step theta_k g_k alpha T slopeL grad_star) scaleNr.
Qed.

(* A step of gradient descent on L_*, L less its slope at theta_star. *)
Theorem equation_25 (R : rcfType) n (L : 'cV[R]_n -> R) (theta_star v : 'cV[R]_n) (alpha : R)
    (slope g_k g_star : 'cV[R]_n) (T : 'M[R]_n) :
  let theta_k := theta_star + v in let L_star t := L t - dot slope t in
  let e_k := g_k - g_star - T *m (theta_k - theta_star) in
  0 < alpha -> is_gradient L theta_star slope ->
  is_gradient L_star theta_k g_k -> is_gradient L_star theta_star g_star ->
  is_hessian L_star theta_star T ->
  norm (theta_k - alpha *: g_k - theta_star) <=
  norm (theta_k - theta_star - alpha *: (T *m (theta_k - theta_star))) + alpha * norm e_k.
Proof.
move=> theta_k L_star e_k a0 slopeL _ grad_star _; rewrite (split_step theta_k g_k alpha T slopeL grad_star).
apply: le_trans (triangle _ _) _; rewrite ler_add2l normZ normrN ger0_norm ?lexx //.
exact: ltW.
Qed.

(* Near any manifold of minimizers: theta_next is as near to the next point as theta_star is. *)
Theorem theorem_1_rate_any_loss (R : rcfType) n (L : 'cV[R]_n -> R)
    (theta_star theta_next v : 'cV[R]_n) (alpha r epsilon : R) (slope g_k g_star : 'cV[R]_n)
    (T : 'M[R]_n) :
  let theta_k := theta_star + v in let L_star t := L t - dot slope t in
  let off := theta_k - theta_star in let e_k := g_k - g_star - T *m off in
  0 < alpha -> 0 < r -> 0 < epsilon -> is_gradient L theta_star slope ->
  is_gradient L_star theta_k g_k -> is_gradient L_star theta_star g_star ->
  is_hessian L_star theta_star T ->
  sq (off - alpha *: (T *m off)) <= r ^+ 2 * sq off ->
  alpha ^+ 2 * sq e_k <= epsilon ^+ 2 * sq off ->
  sq (theta_k - alpha *: g_k - theta_next) <= sq (theta_k - alpha *: g_k - theta_star) ->
  sq (theta_k - alpha *: g_k - theta_next) <= (r + epsilon) ^+ 2 * sq off.
Proof.
move=> theta_k L_star off e_k a0 r0 e0 slopeL gk gstar hess at_rate linear closest.
exact: le_trans closest (equation_5_any_loss a0 r0 e0 slopeL gk gstar hess at_rate linear).
Qed.

(* ---- the maximum over the nonzero eigenvalues ---- *)

Section Maximum.
Variables (R : rcfType) (n : nat) (H : 'M[R]_n) (alpha : R).

Lemma largest_rate_step M (x : 'cV_n) : H^T = H -> largest_rate H alpha M ->
  sq (H *m x - alpha *: (H *m (H *m x))) <= M ^+ 2 * sq (H *m x).
Proof.
move=> sym [_ top]; apply: contraction => // l y ey.
rewrite -{1}[H]trmxK -dot_mul sym; have [_ ->] := ey; rewrite dotZl mulf_eq0 negb_or => /andP[l0 _].
exact: top ey l0.
Qed.
End Maximum.

(* Below (25): off the null space, where the vectors H x are. *)
Theorem equation_25_last_line (R : rcfType) n (H : 'M[R]_n) (alpha M : R) (x : 'cV[R]_n) :
  semidefinite H -> 0 < alpha -> largest_rate H alpha M ->
  sq (H *m x - alpha *: (H *m (H *m x))) <= M ^+ 2 * sq (H *m x).
Proof. by move=> [sym _] _; apply: largest_rate_step. Qed.

(* The maximum is at the smallest nonzero eigenvalue or at the largest. *)
Theorem maximum_of_rates (R : rcfType) n (H : 'M[R]_n) (alpha M l u : R) :
  semidefinite H -> 0 < alpha -> largest_rate H alpha M ->
  smallest_nonzero_eigenvalue H l -> largest_eigenvalue H u ->
  M = Num.max `|1 - alpha * l| `|1 - alpha * u|.
Proof.
move=> [sym psd] a0 [[k [x [ex k0 ->]]] top] [[y ey] l0 low] [[z ez] high].
apply/le_anti; rewrite -/(rate alpha l u) rate_between ?(low _ _ ex k0) ?(high _ _ ex) ?(ltW a0) //.
have u0 : u != 0.
  apply: contraNneq l0 => u0; apply/eqP/le_anti.
  by rewrite (eigenvalue_ge0 psd ey) andbT -u0 (high _ _ ey).
by rewrite le_maxl (top _ _ ey) // (top _ _ ez).
Qed.

(* It is there, so that these theorems are not about nothing. *)
Theorem largest_rate_is_defined (R : rcfType) n (H : 'M[R]_n) alpha :
  H^T = H -> H != 0 -> exists M, largest_rate H alpha M.
Proof.
move=> /spectrum[d [x [eig all zero]]] H0; have [k dk] : exists k, d k != 0.
  apply/existsP; apply: contraNT H0; rewrite negb_exists => /forallP z.
  by apply/eqP/zero => i; apply/eqP; have := z i; rewrite negbK.
case: (@arg_maxP _ _ _ k (fun i => d i != 0) (fun i => `|1 - alpha * d i|)) => // i di top.
exists `|1 - alpha * d i|; split; first by exists (d i), (x i).
by move=> l y /all[j ->]; apply: top.
Qed.

(* ---- the end of the proof: a step from the distance d, with epsilon = alpha C delta ---- *)

Theorem rate_within (R : rcfType) (r alpha C delta d : R) : 0 <= C -> 0 < alpha -> 0 <= d ->
  d <= delta -> (r + alpha * C * d) * d <= (r + alpha * C * delta) * d.
Proof.
by move=> C0 a0 d0 near; rewrite ler_wpmul2r // ler_add2l ler_wpmul2l // mulr_ge0 // ltW.
Qed.

Theorem step_stays_within (R : rcfType) (r alpha C delta d : R) : 0 <= C -> 0 < alpha -> 0 <= d ->
  d <= delta -> r + alpha * C * delta <= 1 -> (r + alpha * C * d) * d <= d.
Proof.
move=> C0 a0 d0 near kept; apply: le_trans (rate_within r C0 a0 d0 near) _.
by rewrite ler_pimull.
Qed.

(* r < 1 at (t, 1/t), whose nonzero eigenvalue is lambda, for small learning rates; ... *)
Theorem contraction_corrected (R : rcfType) (alpha t : R) : let lambda := t ^+ 2 + 1 / t ^+ 2 in
  0 < alpha -> t != 0 -> alpha * lambda < 2 -> (1 - alpha * lambda) ^+ 2 < 1.
Proof.
move=> lambda a0 t0 small; have t2 : 0 < t ^+ 2 by rewrite exprn_even_gt0.
have p : 0 < alpha * lambda by rewrite mulr_gt0 // addr_gt0 // divr_gt0 ?ltr01.
rewrite -subr_gt0; have -> : 1 - (1 - alpha * lambda) ^+ 2 = alpha * lambda * (2 - alpha * lambda).
  by ring.
by rewrite mulr_gt0 // subr_gt0.
Qed.

(* ... but for no learning rate along the whole manifold. *)
Theorem no_rate_along_the_manifold (R : rcfType) (alpha x : R) :
  let t2 := 2 / alpha + x ^+ 2 in 0 < alpha -> alpha * (t2 + 1 / t2) > 2.
Proof.
move=> t2 a0; have a2 : 0 < 2 / alpha by rewrite divr_gt0 ?ltr0n.
have p : 0 < t2 by rewrite ltr_paddr ?sqr_ge0.
apply: lt_le_trans (_ : alpha * (2 / alpha + 1 / t2) <= _); last first.
  by rewrite ler_wpmul2l ?(ltW a0) // ler_add2r ler_addl sqr_ge0.
by rewrite mulrDr mulrCA mulfV ?gt_eqF // mulr1 ltr_addl mulr_gt0 ?divr_gt0 ?ltr01.
Qed.

(* ---- (26), for (a b - 1)^2/2 near (t, 1/t) ---- *)

Section Product.
Variable R : rcfType.

Lemma product_gradient (a b : R) :
  is_gradient (@product_loss R) (pair a b) ((a * b - 1) *: pair b a).
Proof.
move=> epsilon e0; set p := a * b - 1; pose c := `|a| + `|b| + 1.
have c0 : 0 <= c by rewrite !addr_ge0 ?normr_ge0 ?ler01.
have k0 : 0 < `|p| + c ^+ 2 + 1 by rewrite ltr_paddl ?ltr01 // addr_ge0 ?normr_ge0 ?sqr_ge0.
exists (Num.min 1 (epsilon / (`|p| + c ^+ 2 + 1))); first by rewrite lt_minr ltr01 divr_gt0.
move=> d; rewrite lt_minr => /andP[d1 small]; have := entry_le d 0; have := entry_le d 1.
have [u [v dE]] := pairE d; rewrite dE !mxE /= -dE => vd ud.
set w := a * v + b * u + u * v.
have -> : product_loss (pair a b + d) - product_loss (pair a b) - dot (p *: pair b a) d =
    p * (u * v) + w ^+ 2 / 2.
  by rewrite dE add_pair /product_loss scale_pair dot_pair !mxE /= /w /p; field.
have d0 := norm_ge0 d; have wd : `|w| <= c * norm d.
  rewrite /w /c !mulrDl mul1r [`|a| * _ + _ * _]addrC.
  apply: le_trans (ler_norm_add _ _) (ler_add _ _).
    apply: le_trans (ler_norm_add _ _) _; rewrite addrC !normrM.
    by rewrite ler_add // ler_wpmul2l.
  rewrite normrM -[X in _ <= X]mul1r; apply: ler_pmul => //; exact: le_trans ud (ltW d1).
have puv : `|p * (u * v)| <= `|p| * norm d ^+ 2.
  by rewrite normrM ler_wpmul2l // normrM expr2 ler_pmul.
have w2 : `|w ^+ 2 / 2| <= c ^+ 2 * norm d ^+ 2.
  rewrite normrM [`|2^-1|]ger0_norm ?invr_ge0 ?ler0n //; apply: le_trans (_ : `|w ^+ 2| <= _).
    by rewrite ler_pimulr ?normr_ge0 // invf_le1 ?ltr0n // ler1n.
  by rewrite normrX -exprMn ler_sqr ?nnegrE ?mulr_ge0.
apply: le_trans (ler_norm_add _ _) (le_trans (ler_add puv w2) _).
rewrite -mulrDl expr2 mulrA ler_wpmul2r //; apply: le_trans (_ : (`|p| + c ^+ 2 + 1) * norm d <= _).
  by rewrite ler_wpmul2r // ler_addl ler01.
by move: small; rewrite ltr_pdivl_mulr // mulrC => /ltW.
Qed.
End Product.

Theorem equation_26 (R : rcfType) (t s alpha : R) g :
  let theta_star := pair t (1 / t) in let theta_k := pair (t + s / t) (1 / t + s * t) in
  let lambda := t ^+ 2 + 1 / t ^+ 2 in
  0 < alpha -> t != 0 -> is_gradient (@product_loss R) theta_k g ->
  sq (theta_k - alpha *: g - theta_star) <=
  (`|1 - alpha * lambda| + alpha * `|s| * (1 + lambda + `|s|)) ^+ 2 * sq (theta_k - theta_star).
Proof.
move=> theta_star theta_k lambda a0 t0 grad.
rewrite (gradient_unique grad (product_gradient _ _)).
pose n := pair (1 / t) t; pose m := pair t (1 / t).
have offE : theta_k - theta_star = s *: n.
  rewrite /theta_k /theta_star -scaleN1r !scale_pair add_pair; congr pair; field; exact: t0.
have nm : norm n = norm m by rewrite /norm !sq_pair addrC.
have l0 : 0 <= lambda by rewrite addr_ge0 ?sqr_ge0 // divr_ge0 ?ler01 ?sqr_ge0.
set c := `|1 - alpha * lambda| + _; have c0 : 0 <= c.
  rewrite addr_ge0 // mulr_ge0 ?mulr_ge0 ?(ltW a0) // addr_ge0 //.
  by rewrite addr_ge0 ?ler01.
apply: norm_le_sq => //; rewrite offE.
have -> : theta_k - alpha *: (((t + s / t) * (1 / t + s * t) - 1) *:
      pair (1 / t + s * t) (t + s / t)) - theta_star =
    (s * (1 - alpha * lambda)) *: n + ((- (alpha * s ^+ 2)) *: n
      + (- (alpha * s ^+ 2 * (lambda + s))) *: m).
  rewrite /theta_k /theta_star -[- pair _ _]scaleN1r -scaleNr !scale_pair !add_pair.
  by rewrite /lambda; congr pair; field; exact: t0.
apply: le_trans (triangle _ _) _; rewrite !normZ /c mulrDl normrM; apply: ler_add.
  by rewrite mulrA [`|s| * _]mulrC.
apply: le_trans (triangle _ _) _; rewrite !normZ -nm -mulrDl.
have -> : alpha * `|s| * (1 + lambda + `|s|) * (`|s| * norm n) =
    (alpha * `|s| ^+ 2 + alpha * `|s| ^+ 2 * (lambda + `|s|)) * norm n by ring.
rewrite ler_wpmul2r ?norm_ge0 // !normrN (normrM (alpha * _)) (normrM alpha) normrX (gtr0_norm a0).
rewrite ler_add2l.
rewrite ler_wpmul2l ?(mulr_ge0 (ltW a0) (sqr_ge0 _)) //.
by apply: le_trans (ler_norm_add _ _) _; rewrite (ger0_norm l0).
Qed.

(* ---- the rate of every step, on the diagonal from (1 + x, 1 + x) ---- *)

Section Diagonal.
Variables (R : rcfType) (alpha : R).

Definition diagonal_step (x : R) : R := x - alpha * x * (2 + x) * (1 + x).

(* (1, 1) is nearest to (1 + x, 1 + x) while x is at most one. *)
Lemma distance_at_most_one (x : R) : x <= 1 ->
  squared_distance (pair (1 + x) (1 + x)) (2 * x ^+ 2).
Proof.
move=> x1; have offE u v : pair (1 + x) (1 + x) - pair u v = pair (1 + x - u) (1 + x - v).
  by rewrite -scaleN1r scale_pair add_pair !mulN1r.
split=> [|a b ab a0].
  exists 1, 1; rewrite mulr1 ltr01 offE sq_pair; split=> //; ring.
have b0 : 0 < b by rewrite -(pmulr_rgt0 _ a0) ab ltr01.
have sum2 : 2 <= a + b.
  have ab0 : 0 <= a + b by rewrite addr_ge0 ?ltW.
  rewrite -ler_sqr ?nnegrE ?ler0n //.
  have -> : (a + b) ^+ 2 = 2 ^+ 2 * (a * b) + (a - b) ^+ 2 by ring.
  by rewrite ab mulr1 ler_addl sqr_ge0.
rewrite offE sq_pair -subr_ge0; have -> : (1 + x - a) ^+ 2 + (1 + x - b) ^+ 2 - 2 * x ^+ 2 =
    (a + b - 2) * ((a + b - 2) + 2 * (1 - x)) + 2 * (1 - a * b) by ring.
rewrite ab subrr mulr0 addr0 mulr_ge0 ?subr_ge0 // addr_ge0 ?subr_ge0 //.
by rewrite mulr_ge0 ?ler0n // subr_ge0.
Qed.
Lemma distance_on_diagonal (x d : R) : x <= 1 ->
  squared_distance (pair (1 + x) (1 + x)) d -> d = 2 * x ^+ 2.
Proof.
move=> /distance_at_most_one[[a [b [ab a0 ->]]] least] [[a' [b' [ab' a0' ->]]] least'].
by apply/le_anti; rewrite least // least'.
Qed.

Lemma diagonal_step_rate x : 0 <= alpha ->
  `|diagonal_step x| <= (`|1 - 2 * alpha| + alpha * (3 * `|x| + x ^+ 2)) * `|x|.
Proof.
move=> a0; have -> : diagonal_step x = ((1 - 2 * alpha) - alpha * (3 * x + x ^+ 2)) * x.
  by rewrite /diagonal_step; ring.
rewrite normrM ler_wpmul2r //; apply: le_trans (ler_norm_sub _ _) _.
rewrite ler_add2l normrM (ger0_norm a0) ler_wpmul2l //; apply: le_trans (ler_norm_add _ _) _.
by rewrite normrM normr_nat normrX real_normK ?num_real.
Qed.
End Diagonal.

(* The distance is attained, so that there is one. *)
Theorem diagonal_distance_is_defined (R : rcfType) (x : R) : x <= 1 ->
  squared_distance (pair (1 + x) (1 + x)) (2 * x ^+ 2).
Proof. exact: distance_at_most_one. Qed.

(* Theorem 1, second part, where r + epsilon is at most one. *)
Theorem theorem_1_rate_corrected (R : rcfType) (alpha x_0 : R) :
  let x k := iter k (diagonal_step alpha) x_0 in
  let r := `|1 - 2 * alpha| in let epsilon := alpha * (3 * `|x_0| + x_0 ^+ 2) in
  0 < alpha < 1 -> r + epsilon <= 1 -> forall k d d',
  squared_distance (pair (1 + x k) (1 + x k)) d ->
  squared_distance (pair (1 + x k.+1) (1 + x k.+1)) d' ->
  d' <= (r + epsilon) ^+ 2 * d.
Proof.
move=> x r epsilon /andP[a0 _] kept k d d'; have a0' := ltW a0.
have q0 (y : R) : 0 <= 3 * `|y| + y ^+ 2 by rewrite addr_ge0 ?sqr_ge0 // mulr_ge0 ?ler0n.
have re0 : 0 <= r + epsilon by rewrite addr_ge0 ?normr_ge0 // mulr_ge0.
have step j : `|x j| <= `|x_0| -> `|x j.+1| <= (r + epsilon) * `|x j|.
  move=> near; apply: le_trans (diagonal_step_rate (x j) a0') _.
  rewrite ler_wpmul2r // ler_add2l ler_wpmul2l // ler_add ?ler_wpmul2l ?ler0n //.
  by rewrite -real_normK ?num_real // -[x_0 ^+ 2]real_normK ?num_real // ler_sqr ?nnegrE.
have near j : `|x j| <= `|x_0|.
  by elim: j => [|j near] //; apply: le_trans (step _ near) (le_trans _ near); rewrite ler_pimull.
have small : `|x_0| <= 1.
  rewrite leNgt; apply/negP => far; move: kept; apply/negP; rewrite -ltNge.
  have := ler_norm (1 - 2 * alpha); rewrite -/r => r1.
  rewrite -subr_gt0; apply: lt_le_trans (_ : 0 < alpha * (3 * `|x_0| + x_0 ^+ 2 - 2)) _.
    rewrite mulr_gt0 // subr_gt0; apply: lt_le_trans (_ : 3 * `|x_0| <= _).
      by rewrite (lt_trans (_ : 2 < 3 * 1)) ?mulr1 ?ltr_nat // ltr_pmulr ?ltr0n.
    by rewrite ler_addl sqr_ge0.
  rewrite -subr_ge0; have -> : r + epsilon - 1 - alpha * (3 * `|x_0| + x_0 ^+ 2 - 2) =
    r - (1 - 2 * alpha) by rewrite /epsilon; ring.
  by rewrite subr_ge0.
have le1 j : x j <= 1 := le_trans (ler_norm _) (le_trans (near j) small).
move=> /(distance_on_diagonal (le1 k)) -> /(distance_on_diagonal (le1 k.+1)) ->.
rewrite [X in _ <= X]mulrCA ler_wpmul2l ?ler0n //.
rewrite -[x k ^+ 2]real_normK ?num_real // -[x k.+1 ^+ 2]real_normK ?num_real // -exprMn.
by rewrite ler_sqr ?nnegrE ?mulr_ge0 // step.
Qed.

(* ---- every step ---- *)

Definition closest (R : rcfType) n (M : 'cV[R]_n -> Prop) theta y :=
  M y /\ forall z, M z -> norm (theta - y) <= norm (theta - z).

(* Where each step comes closer to the manifold by a factor q < 1, as theorem_1_rate_any_loss has it
   with q = r + epsilon in a neighbourhood, no step leaves that, and so it is for all k. *)
Theorem theorem_1_every_step (R : rcfType) n (M : 'cV[R]_n -> Prop) (G : 'cV[R]_n -> 'cV[R]_n)
    (theta_star : 'cV[R]_n) (alpha q rho : R) :
  let step theta := theta - alpha *: G theta in
  0 < rho -> 0 <= q -> q < 1 -> M theta_star ->
  (forall theta, norm (theta - theta_star) < rho ->
   exists2 y, closest M theta y & norm (step theta - y) <= q * norm (theta - y)) ->
  exists2 delta, 0 < delta & forall theta_0, norm (theta_0 - theta_star) < delta ->
  let theta k := iter k step theta_0 in forall k y y',
  closest M (theta k) y -> closest M (theta k.+1) y' ->
  norm (theta k.+1 - y') <= q * norm (theta k - y).
Proof.
move=> step rho0 q0 q1 M0 contracts; have p0 : 0 < 1 - q by rewrite subr_gt0.
exists ((1 - q) * rho / 3) => [|theta_0 start theta]; first by rewrite divr_gt0 ?mulr_gt0 ?ltr0n.
set e := norm (theta_0 - theta_star) in start; have e0 : 0 <= e by exact: norm_ge0.
have inside k : (1 - q) * (norm (theta k - theta_star) - e) <= 2 * e * (1 - q ^+ k) ->
    norm (theta k - theta_star) < rho.
  move=> le; rewrite -(ltr_pmul2l p0); apply: le_lt_trans (_ : 3 * e < _); last first.
    by move: start; rewrite ltr_pdivl_mulr ?ltr0n // mulrC.
  rewrite -(subrK e (norm (theta k - theta_star))) mulrDr.
  have -> : 3 * e = 2 * e * 1 + 1 * e by ring.
  rewrite ler_add //; last by rewrite ler_wpmul2r // ler_subl_addr ler_addl.
  apply: le_trans le _; rewrite ler_wpmul2l ?mulr_ge0 ?ler0n //.
  by rewrite ler_subl_addr ler_addl exprn_ge0.
have near k : (1 - q) * (norm (theta k - theta_star) - e) <= 2 * e * (1 - q ^+ k) /\
    forall y, closest M (theta k) y -> norm (theta k - y) <= q ^+ k * e.
  elim: k => [|k [le dist]].
    by rewrite /theta /= subrr mulr0 expr0 subrr mulr0 lexx mul1r; split=> // y [_]; apply.
  have [y close come] := contracts _ (inside k le); have Dk := dist y close.
  have q_e : norm (theta k.+1 - y) <= q ^+ k.+1 * e.
    by apply: le_trans come _; rewrite exprS -mulrA ler_wpmul2l.
  split=> [|y' [_ least]]; last by apply: le_trans (least y _) q_e; case: close.
  have moved : norm (theta k.+1 - theta_star) <= norm (theta k - theta_star) + 2 * (q ^+ k * e).
    have -> : theta k.+1 - theta_star = (theta k - theta_star) + (theta k.+1 - theta k).
      by rewrite [RHS]addrC addrA subrK.
    apply: le_trans (triangle _ _) _; rewrite ler_add2l.
    have -> : theta k.+1 - theta k = (theta k.+1 - y) + - (theta k - y).
      by rewrite opprB addrA subrK.
    apply: le_trans (triangle _ _) _; rewrite normN mulr_natl mulr2n ler_add //.
    apply: le_trans q_e _; rewrite ler_wpmul2r // exprS ler_pimull ?exprn_ge0 //; exact: ltW.
  have -> : 2 * e * (1 - q ^+ k.+1) = 2 * e * (1 - q ^+ k) + (1 - q) * (2 * (q ^+ k * e)).
    by rewrite exprS; ring.
  apply: le_trans (ler_add le (lexx _)); rewrite -mulrDr ler_pmul2l //.
  by rewrite ler_subl_addr [X in _ <= X]addrAC subrK.
move=> k y y' [My least] [_ least']; have [le _] := near k.
have [z [Mz least_z] come] := contracts _ (inside k le).
apply: le_trans (least' z Mz) (le_trans come _).
by rewrite ler_wpmul2l // least_z.
Qed.

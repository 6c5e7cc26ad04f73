(* Section 3.1, (5) and (6): gradient descent near a minimizer, and the learning rates for which it
   converges.

     rate alpha lo hi      r = max (|1 - alpha lo|, |1 - alpha hi|) of (6)
     quartic_step H alpha  a step on the loss u' H u/2 + (u_1^4 + ... + u_n^4)/4, minimal at 0

   An eigenvalue in between has no larger |1 - alpha l|, so that in an orthonormal basis of
   eigenvectors u - alpha H u is at most r |u| long.  The cubes add at most alpha |u|^2 |u|, and
   where r + epsilon <= 1 no step leads further away, so that epsilon = alpha |u_0|^2 serves all. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct ConditionNumber Differentiation.
From BatchNorm.lange2022 Require Import proposition_11.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Definitions.
Variables (R : rcfType) (n : nat) (H : 'M[R]_n).

Definition largest_eigenvalue l := (exists x, eigenvector H l x) /\ at_least_eigenvalues H l.
Definition smallest_eigenvalue l := (exists x, eigenvector H l x) /\ at_most_eigenvalues H l.

Definition rate (alpha lo hi : R) : R := Num.max `|1 - alpha * lo| `|1 - alpha * hi|.

Definition cubes (u : 'cV[R]_n) : 'cV[R]_n := \col_i (u i 0 ^+ 3).
Definition quartic_step alpha u := u - alpha *: (H *m u + cubes u).
End Definitions.

(* The eigenvalues of a symmetric matrix, in a list. *)
Lemma spectrum (R : rcfType) n (H : 'M[R]_n) : H^T = H ->
  exists (d : 'I_n -> R) (x : 'I_n -> 'cV_n),
  [/\ forall i, eigenvector H (d i) (x i), forall l y, eigenvector H l y -> exists i, l = d i
    & (forall i, d i = 0) -> H = 0].
Proof.
move=> sym; have [Q [d [o E form im eig]]] := in_eigenbasis sym.
exists d, (fun i => Q *m delta_mx i 0); split=> [//|l y [y0 Hy]|zero].
  have [i yi] : exists i, (Q^T *m y) i 0 != 0.
    apply/existsP; apply: contraNT y0; rewrite negb_exists => /forallP z.
    rewrite -sq_eq0 E; apply/eqP/big1 => i _.
    by have := z i; rewrite negbK => /eqP ->; rewrite expr0n.
  by exists i; have := im y i; rewrite Hy -scalemxAr mxE => /(mulIf yi).
have null (y : 'cV_n) : H *m y = 0.
  apply/eqP; rewrite -sq_eq0 E; apply/eqP/big1 => i _.
  by rewrite im zero mul0r expr0n.
by apply/matrixP => i j; have := null (delta_mx j 0); rewrite -colE => /matrixP/(_ i 0);
  rewrite !mxE.
Qed.

Section Rates.
Variables (R : rcfType) (n : nat) (H : 'M[R]_n) (alpha : R).

Lemma rate_between lo hi h : 0 <= alpha -> lo <= h <= hi -> `|1 - alpha * h| <= rate alpha lo hi.
Proof.
move=> a0 /andP[loh hhi]; rewrite ler_norml ler_oppl opprB le_maxr le_maxr; apply/andP; split.
  apply/orP; right; rewrite distrC; apply: le_trans (ler_norm _).
  by rewrite ler_sub // ler_wpmul2l.
apply/orP; left; apply: le_trans (ler_norm _).
by rewrite ler_sub // ler_wpmul2l.
Qed.

(* What bounds |1 - alpha l| for the eigenvalues that u meets bounds a step from u. *)
Lemma contraction c (u : 'cV_n) : H^T = H ->
  (forall l x, eigenvector H l x -> dot x u != 0 -> `|1 - alpha * l| <= c) ->
  sq (u - alpha *: (H *m u)) <= c ^+ 2 * sq u.
Proof.
move=> sym bound; have [Q [d [o E form im eig]]] := in_eigenbasis sym.
rewrite (E u) E big_distrr; apply: ler_sum => i _ /=.
have -> : (Q^T *m (u - alpha *: (H *m u))) i 0 = (1 - alpha * d i) * (Q^T *m u) i 0.
  rewrite mulmxBr -scalemxAr mulrBl mul1r -mulrA -im.
  by move: (Q^T *m u) (Q^T *m (H *m u)) => v w; rewrite !mxE.
have [->|z0] := eqVneq ((Q^T *m u) i 0) 0; first by rewrite mulr0 expr0n mulr0.
have := bound _ _ (eig i); rewrite dot_mul dotC dot_delta z0 => /(_ isT) le.
rewrite exprMn ler_wpmul2r ?sqr_ge0 // -real_normK ?num_real //.
by rewrite ler_sqr ?nnegrE ?normr_ge0 // (le_trans (normr_ge0 _) le).
Qed.

Lemma step_rate lo hi (u : 'cV_n) : 0 <= alpha -> H^T = H ->
  smallest_eigenvalue H lo -> largest_eigenvalue H hi ->
  norm (u - alpha *: (H *m u)) <= rate alpha lo hi * norm u.
Proof.
move=> a0 sym [_ low] [_ high]; apply: norm_le; first by rewrite le_maxr normr_ge0.
apply: contraction => // l x ex _; apply: rate_between => //.
by rewrite (low _ _ ex) (high _ _ ex).
Qed.

(* ---- the quartic loss ---- *)

Lemma norm_cubes (u : 'cV[R]_n) : norm (cubes u) <= sq u * norm u.
Proof.
apply: norm_le; first exact: sq_ge0.
rewrite (sq_column (cubes u)) [X in _ <= _ * X]sq_column big_distrr; apply: ler_sum => i _ /=.
have -> : cubes u i 0 ^+ 2 = (u i 0 ^+ 2) ^+ 2 * u i 0 ^+ 2 by rewrite mxE; ring.
rewrite ler_wpmul2r ?sqr_ge0 // ler_sqr ?nnegrE ?sqr_ge0 ?sq_ge0 //.
by rewrite sq_column (bigD1 i) //= ler_addl sumr_ge0 // => j _; apply: sqr_ge0.
Qed.

Lemma quartic_step_rate lo hi (u : 'cV_n) : 0 <= alpha -> H^T = H ->
  smallest_eigenvalue H lo -> largest_eigenvalue H hi ->
  norm (quartic_step H alpha u) <= (rate alpha lo hi + alpha * sq u) * norm u.
Proof.
move=> a0 sym low high; rewrite /quartic_step scalerDr opprD addrA mulrDl.
apply: le_trans (triangle _ _) _; apply: ler_add; first exact: step_rate.
by rewrite normN normZ ger0_norm // -mulrA ler_wpmul2l // norm_cubes.
Qed.

Lemma entry_le (u : 'cV[R]_n) i : `|u i 0| <= norm u.
Proof.
rewrite -dot_delta; apply: le_trans (dot_le _ _) _.
by rewrite /norm [sq (delta_mx _ _)]sq_delta sqrtr1 mulr1.
Qed.

Lemma norm_le_sq (u v : 'cV[R]_n) c : 0 <= c -> norm u <= c * norm v -> sq u <= c ^+ 2 * sq v.
Proof.
move=> c0 le; rewrite -!norm_sq -exprMn ler_sqr ?nnegrE ?norm_ge0 //.
by rewrite mulr_ge0 ?norm_ge0.
Qed.
End Rates.

(* ---- any loss ---- *)

Lemma gradient_less_slope (R : rcfType) n (L : 'cV[R]_n -> R) x g h :
  is_gradient L x h -> is_gradient (fun t => L t - dot g t) x (h - g).
Proof.
move=> Lh epsilon e0; have [delta d0 near] := Lh _ e0; exists delta => // d /near.
rewrite dotBl dotDr; congr (`|_| <= _); ring.
Qed.

(* A step on L_*, L less its slope at theta_star: the Hessian's part, and the rest e_k. *)
Lemma split_step (R : rcfType) n (L : 'cV[R]_n -> R) (theta_star theta_k slope g_k g_star : 'cV_n)
    (alpha : R) (T : 'M_n) :
  let off := theta_k - theta_star in
  is_gradient L theta_star slope -> is_gradient (fun t => L t - dot slope t) theta_star g_star ->
  theta_k - alpha *: g_k - theta_star =
  (off - alpha *: (T *m off)) + (- alpha) *: (g_k - g_star - T *m off).
Proof.
move=> off slopeL grad_star; have -> : g_star = 0.
  by rewrite (gradient_unique grad_star (gradient_less_slope slope slopeL)) subrr.
by rewrite subr0 scaleNr scalerBr opprB addrA subrK addrAC.
Qed.

Theorem equation_5_any_loss (R : rcfType) n (L : 'cV[R]_n -> R) (theta_star v : 'cV[R]_n)
    (alpha r epsilon : R) (slope g_k g_star : 'cV[R]_n) (T : 'M[R]_n) :
  let theta_k := theta_star + v in let L_star t := L t - dot slope t in
  let off := theta_k - theta_star in let e_k := g_k - g_star - T *m off in
  0 < alpha -> 0 < r -> 0 < epsilon -> is_gradient L theta_star slope ->
  is_gradient L_star theta_k g_k -> is_gradient L_star theta_star g_star ->
  is_hessian L_star theta_star T ->
  sq (off - alpha *: (T *m off)) <= r ^+ 2 * sq off ->
  alpha ^+ 2 * sq e_k <= epsilon ^+ 2 * sq off ->
  sq (theta_k - alpha *: g_k - theta_star) <= (r + epsilon) ^+ 2 * sq off.
Proof.
move=> theta_k L_star off e_k a0 r0 e0 slopeL _ grad_star _ at_rate linear.
rewrite (split_step theta_k g_k alpha T slopeL grad_star) -/off -/e_k.
apply: norm_le_sq; first by rewrite addr_ge0 ?ltW.
apply: le_trans (triangle _ _) _; rewrite mulrDl ler_add //; first exact: norm_le (ltW r0) _.
by apply: norm_le (ltW e0) _; rewrite sqZ sqrrN.
Qed.

(* (5): near a critical point at which the gradient has the symmetric Jacobian T, for all k. *)
Theorem equation_5_every_step (R : rcfType) n (L : 'cV[R]_n -> R) (theta_star : 'cV[R]_n)
    (G : 'cV[R]_n -> 'cV[R]_n) (T : 'M[R]_n) (alpha lo hi epsilon : R) :
  let r := rate alpha lo hi in
  (forall theta, is_gradient L theta (G theta)) -> G theta_star = 0 ->
  is_jacobian G theta_star T -> T^T = T ->
  smallest_eigenvalue T lo -> largest_eigenvalue T hi ->
  0 < alpha -> 0 < epsilon -> r + epsilon <= 1 ->
  exists2 delta, 0 < delta & forall theta_0, norm (theta_0 - theta_star) < delta ->
  let theta k := iter k (fun t => t - alpha *: G t) theta_0 in
  forall k, norm (theta k.+1 - theta_star) <= (r + epsilon) * norm (theta k - theta_star).
Proof.
move=> r _ G0 jacobian sym low high a0 e0 kept.
have [delta d0 near] := jacobian _ (divr_gt0 e0 a0); exists delta => // theta_0 start theta.
have step t : norm (t - theta_star) < delta ->
    norm (t - alpha *: G t - theta_star) <= (r + epsilon) * norm (t - theta_star).
  move=> /near; rewrite [theta_star + _]addrC subrK G0 subr0; set u := t - theta_star => rest.
  have -> : t - alpha *: G t - theta_star = (u - alpha *: (T *m u)) - alpha *: (G t - T *m u).
    by rewrite scalerBr opprB addrA subrK /u addrAC.
  apply: le_trans (triangle _ _) _; rewrite mulrDl ler_add //.
    exact: step_rate (ltW a0) _ _ _.
  rewrite normN normZ gtr0_norm //; apply: le_trans (ler_wpmul2l (ltW a0) rest) _.
  by rewrite mulrA mulrCA mulfV ?gt_eqF // mulr1.
have re0 : 0 <= r + epsilon by rewrite addr_ge0 ?(ltW e0) // le_maxr normr_ge0.
suff close k : norm (theta k - theta_star) < delta by move=> k; exact: step (close k).
elim: k => [|k close] //; apply: le_lt_trans (step _ close) _.
by apply: le_lt_trans close; rewrite ler_pimull ?norm_ge0.
Qed.

(* Above (8): r of (6) grows with kappa. *)
Theorem rate_is_reduced (R : rcfType) (kappa kappa_P : R) : 1 <= kappa -> 1 <= kappa_P ->
  kappa_P <= kappa -> (kappa_P - 1) / (kappa_P + 1) <= (kappa - 1) / (kappa + 1).
Proof.
move=> k1 p1 better; have k0 : 0 < kappa + 1 by rewrite ltr_paddl ?ltr01 ?(le_trans ler01).
have p0 : 0 < kappa_P + 1 by rewrite ltr_paddl ?ltr01 ?(le_trans ler01).
rewrite ler_pdivr_mulr // mulrAC ler_pdivl_mulr // -subr_ge0.
have -> : (kappa - 1) * (kappa_P + 1) - (kappa_P - 1) * (kappa + 1) = 2 * (kappa - kappa_P) by ring.
by rewrite mulr_ge0 ?subr_ge0 ?ler0n.
Qed.

(* ---- every step ---- *)

(* (5) for every step, r + epsilon being at most one: for this loss in any dimension. *)
Theorem equation_5_corrected (R : rcfType) n (H : 'M[R]_n) (alpha lo hi : R) (u_0 : 'cV[R]_n) :
  let u k := iter k (quartic_step H alpha) u_0 in
  let r := rate alpha lo hi in let epsilon := alpha * sq u_0 in
  positive_definite H -> 0 < alpha -> smallest_eigenvalue H lo -> largest_eigenvalue H hi ->
  r + epsilon <= 1 -> forall k, sq (u k.+1) <= (r + epsilon) ^+ 2 * sq (u k).
Proof.
move=> u r epsilon [sym _] a0 low high kept.
have r0 : 0 <= r by rewrite le_maxr normr_ge0.
have re0 : 0 <= r + epsilon by rewrite addr_ge0 // mulr_ge0 ?sq_ge0 // ltW.
have step k : sq (u k) <= sq u_0 -> sq (u k.+1) <= (r + epsilon) ^+ 2 * sq (u k).
  move=> near; apply: norm_le_sq => //.
  apply: le_trans (quartic_step_rate (u k) (ltW a0) sym low high) _.
  by rewrite ler_wpmul2r ?norm_ge0 // ler_add2l ler_wpmul2l // ltW.
suff near k : sq (u k) <= sq u_0 by move=> k; apply: step.
elim: k => [|k near] //; apply: le_trans (step _ near) (le_trans _ near).
by rewrite ler_pimull ?sq_ge0 // expr_le1.
Qed.

Lemma extremes_of_definite (R : rcfType) n (H : 'M[R]_n) lo hi : positive_definite H ->
  smallest_eigenvalue H lo -> largest_eigenvalue H hi -> 0 < lo <= hi.
Proof.
move=> [_ positive] [[x ex] _] [_ top]; rewrite (top _ _ ex) andbT.
have [x0 Hx] := ex; have := positive _ x0; rewrite Hx dotZr pmulr_lgt0 //.
by rewrite sq_gt0.
Qed.

(* The extreme eigenvalues of which these theorems speak are there. *)
Theorem extreme_eigenvalues_are_defined (R : rcfType) n (H : 'M[R]_n.+1) : H^T = H ->
  exists lo hi, smallest_eigenvalue H lo /\ largest_eigenvalue H hi.
Proof.
move=> /spectrum[d [x [eig all _]]].
case: (@arg_minP _ _ _ (ord0 : 'I_n.+1) xpredT d) => // i _ low.
case: (@arg_maxP _ _ _ (ord0 : 'I_n.+1) xpredT d) => // j _ high.
exists (d i), (d j); split; split; try by [exists (x i)|exists (x j)].
  by move=> l y /all[k ->]; apply: low.
by move=> l y /all[k ->]; apply: high.
Qed.

(* r < 1 needs a learning rate below 2/lambda_max, *)
Theorem learning_rate_needed (R : rcfType) n (H : 'M[R]_n) (alpha lo hi : R) :
  positive_definite H -> 0 < alpha -> smallest_eigenvalue H lo -> largest_eigenvalue H hi ->
  rate alpha lo hi < 1 -> alpha * hi < 2.
Proof.
move=> _ a0 low high; rewrite lt_maxl => /andP[_]; rewrite ltr_norml => /andP[+ _].
by rewrite ltr_subr_addl ltr_subl_addr.
Qed.

(* and with one it is. *)
Theorem learning_rate_enough (R : rcfType) n (H : 'M[R]_n) (alpha lo hi : R) :
  positive_definite H -> 0 < alpha -> smallest_eigenvalue H lo -> largest_eigenvalue H hi ->
  alpha * hi < 2 -> rate alpha lo hi < 1.
Proof.
move=> pd a0 low high small; have /andP[lo0 lohi] := extremes_of_definite pd low high.
have inside h : 0 < h -> h <= hi -> `|1 - alpha * h| < 1.
  move=> h0 le; rewrite ltr_norml ltr_subr_addr ltr_subl_addr ltr_addl mulr_gt0 // andbT.
  rewrite addrC ltr_subl_addr; apply: le_lt_trans (_ : alpha * hi < _).
    by rewrite ler_wpmul2l // ltW.
  exact: small.
by rewrite lt_maxl !inside ?(lt_le_trans lo0 lohi).
Qed.

(* On t^2/2 + t^4/4, with the learning rate 1 + r for r > 1, every step is too long. *)
Theorem goes_away (R : rcfType) (t r : R) : 1 < r ->
  (t - (1 + r) * (t + t ^+ 3)) ^+ 2 >= r ^+ 2 * t ^+ 2.
Proof.
move=> r1; have r0 : 0 <= r by rewrite (le_trans ler01) // ltW.
have -> : (t - (1 + r) * (t + t ^+ 3)) ^+ 2 = (r + (1 + r) * t ^+ 2) ^+ 2 * t ^+ 2 by ring.
have p : 0 <= (1 + r) * t ^+ 2 by rewrite mulr_ge0 ?sqr_ge0 // addr_ge0 ?ler01.
by rewrite ler_wpmul2r ?sqr_ge0 // ler_sqr ?nnegrE ?addr_ge0 // ler_addl.
Qed.

(* A loss of degree three with the Hessian H + alpha I at its critical point 0, which is a minimizer
   if only of a neighbourhood. *)
Theorem minimizer_growth (R : rcfType) n (H : 'M[R]_n) (alpha : R) (x theta : 'cV[R]_n) :
  0 < alpha -> 0 <= dot theta (H *m theta) ->
  (dot theta (H *m theta) + alpha * sq theta) / 2 + dot x theta * sq theta >=
  (alpha / 2 + dot x theta) * sq theta.
Proof.
move=> _ psd; rewrite -subr_ge0; set a := dot theta _ in psd *.
have -> : (a + alpha * sq theta) / 2 + dot x theta * sq theta -
    (alpha / 2 + dot x theta) * sq theta = a / 2 by field.
by rewrite divr_ge0 ?ler0n.
Qed.

Theorem minimizer_corrected (R : rcfType) n (H : 'M[R]_n) (alpha : R) (x theta : 'cV[R]_n) :
  0 < alpha -> dot x theta >= - alpha / 2 -> 0 <= dot theta (H *m theta) ->
  (dot theta (H *m theta) + alpha * sq theta) / 2 + dot x theta * sq theta >= 0.
Proof.
move=> a0 near psd; apply: le_trans (minimizer_growth x a0 psd).
by rewrite mulr_ge0 ?sq_ge0 // -ler_subl_addl sub0r -mulNr.
Qed.

(* ---- r and its best learning rate, for each vector and in numbers ---- *)

(* r where the smallest eigenvalue decides, ... *)
Theorem rate_by_smallest (R : rcfType) n (H : 'M[R]_n) (alpha lo hi : R) (v : 'cV[R]_n) :
  0 < alpha -> 0 <= dot (H *m v - lo *: v) (hi *: v - H *m v) -> lo * sq v <= dot v (H *m v) ->
  alpha * (lo + hi) <= 2 -> sq (v - alpha *: (H *m v)) <= (1 - alpha * lo) ^+ 2 * sq v.
Proof.
move=> a0; set w := H *m v => between low slow; rewrite -subr_ge0.
have -> : (1 - alpha * lo) ^+ 2 * sq v - sq (v - alpha *: w) =
    alpha * (2 - alpha * (lo + hi)) * (dot v w - lo * sq v) +
    alpha ^+ 2 * dot (w - lo *: v) (hi *: v - w).
  by rewrite sqB sqZ !(dotBl, dotBr, dotZl, dotZr) (dotC w v) -!/(sq _); ring.
by rewrite addr_ge0 ?mulr_ge0 ?sqr_ge0 ?subr_ge0 ?(ltW a0).
Qed.

(* ... and where the largest does. *)
Theorem rate_by_largest (R : rcfType) n (H : 'M[R]_n) (alpha lo hi : R) (v : 'cV[R]_n) :
  0 < alpha -> 0 <= dot (H *m v - lo *: v) (hi *: v - H *m v) -> dot v (H *m v) <= hi * sq v ->
  2 <= alpha * (lo + hi) -> sq (v - alpha *: (H *m v)) <= (1 - alpha * hi) ^+ 2 * sq v.
Proof.
move=> a0; set w := H *m v => between high fast; rewrite -subr_ge0.
have -> : (1 - alpha * hi) ^+ 2 * sq v - sq (v - alpha *: w) =
    alpha * (alpha * (lo + hi) - 2) * (hi * sq v - dot v w) +
    alpha ^+ 2 * dot (w - lo *: v) (hi *: v - w).
  by rewrite sqB sqZ !(dotBl, dotBr, dotZl, dotZr) (dotC w v) -!/(sq _); ring.
by rewrite addr_ge0 ?mulr_ge0 ?sqr_ge0 ?subr_ge0 ?(ltW a0).
Qed.

(* Above (6): with alpha = 2/(lo + hi) both are (kappa - 1)/(kappa + 1), ... *)
Theorem best_learning_rate (R : rcfType) (lo hi : R) :
  let alpha := 2 / (lo + hi) in let kappa := hi / lo in 0 < lo -> lo <= hi ->
  1 - alpha * lo = (kappa - 1) / (kappa + 1) /\ alpha * hi - 1 = (kappa - 1) / (kappa + 1).
Proof.
move=> alpha kappa lo0 lohi; have hi0 := lt_le_trans lo0 lohi.
have l0 : lo != 0 by rewrite gt_eqF.
have s0 : lo + hi != 0 by rewrite gt_eqF // addr_gt0.
have t0 : hi + lo != 0 by rewrite addrC.
by rewrite /alpha /kappa; split; field; rewrite ?l0 ?s0 ?t0.
Qed.

(* ... and r is not smaller with any other. *)
Theorem no_rate_is_better (R : rcfType) (alpha lo hi r : R) : 0 < alpha -> 0 <= lo -> lo <= hi ->
  1 - alpha * lo <= r -> alpha * hi - 1 <= r -> hi - lo <= (lo + hi) * r.
Proof.
move=> _ lo0 lohi low high; rewrite -subr_ge0.
have -> : (lo + hi) * r - (hi - lo) = hi * (r - (1 - alpha * lo)) + lo * (r - (alpha * hi - 1)).
  by ring.
by rewrite addr_ge0 ?mulr_ge0 ?subr_ge0 // (le_trans lo0).
Qed.

Theorem rate_by_a_product (R : rcfType) (alpha lo : R) :
  1 - (1 - alpha * lo) ^+ 2 = alpha * lo * (2 - alpha * lo).
Proof. by ring. Qed.

(* (6) for the Hessian P'HP in z = P^-1 theta, with the learning rate that is best there. *)
Theorem rate_in_z_corrected (R : rcfType) m n (H : 'M[R]_m) (P : 'M[R]_(m, n)) (l lo hi : R) :
  let T := P^T *m H *m P in
  semidefinite H -> smallest_eigenvalue H l -> 0 < l ->
  smallest_eigenvalue T lo -> largest_eigenvalue T hi -> lo + hi != 0 ->
  rate (2 / (lo + hi)) lo hi <= (hi - lo) / (hi + lo).
Proof.
move=> T psd _ _ [[x ex] low] [_ high] s0; have lohi := high _ _ ex.
have lo0 : 0 <= lo by apply: eigenvalue_ge0 ex; exact: (product_semidefinite _ psd).2.
have hi0 := le_trans lo0 lohi; have q0 : 0 <= (hi - lo) / (hi + lo).
  by rewrite divr_ge0 ?subr_ge0 // addr_ge0.
have h0 : hi + lo != 0 by rewrite addrC.
have -> : (hi - lo) / (hi + lo) = `|(hi - lo) / (hi + lo)| by rewrite ger0_norm.
rewrite le_maxl; apply/andP; split; rewrite le_eqVlt; apply/orP; left; apply/eqP.
  by congr `|_|; field; rewrite ?s0 ?h0.
by rewrite -[RHS]normrN; congr `|_|; field; rewrite ?s0 ?h0.
Qed.

(* Theorem 1, first part, for any loss that does not change when units are scaled; and for the
   paper's.

     scaled out s t theta       theta with its entries multiplied by 1 + t s_i, those of out divided
     along_scaling out s theta  its derivative in t at 0: s_i theta_i, those of out - s_i theta_i
     network x Z                outgoing weights times (incoming ones times x, plus biases)
     scaling s Z                the same derivative for a network's weights, of s for each unit

   For a unit of a network s is one number at its incoming weights and its bias, and at its outgoing
   weights, which are out; elsewhere it is zero.  Any number of units, layers and inputs will do:
   what is asked of them is that the loss does not change.  Along the curve the gradient is scaled the
   other way, so that the Hessian is known on its tangent: zero at a critical point. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct Differentiation.
From BatchNorm.lange2022 Require Import gradient_descent.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Definitions.
Variables (R : rcfType) (n : nat) (out : pred 'I_n) (s : 'cV[R]_n).

Definition factor (t : R) i := if out i then (1 + t * s i 0)^-1 else 1 + t * s i 0.
Definition scaled t (theta : 'cV[R]_n) : 'cV[R]_n := \col_i (factor t i * theta i 0).
Definition along_scaling (theta : 'cV[R]_n) : 'cV[R]_n :=
  \col_i ((if out i then - s i 0 else s i 0) * theta i 0).
End Definitions.

(* What G does along a curve from theta to first order, its Jacobian does on the tangent w. *)
Lemma tangent (R : rcfType) n p (G : 'cV[R]_n -> 'cV[R]_p) theta T w v c r
    (curve : R -> 'cV[R]_n) : 0 <= c -> 0 < r -> is_jacobian G theta T ->
  (forall t, 0 < t < r -> norm (G (curve t) - G theta - t *: v) <= c * t ^+ 2) ->
  (forall t, 0 < t < r -> norm (curve t - theta - t *: w) <= c * t ^+ 2) -> T *m w = v.
Proof.
move=> c0 r0 jacobian values near; apply/eqP; rewrite -subr_eq0; apply/negPn/negP => Tw0.
set a := norm (T *m w - v); set W := norm w + 1; set M := (norm T + 1) * c + 1.
have a0 : 0 < a by rewrite norm_gt0.
have W0 : 0 < W by rewrite ltr_paddl ?norm_ge0 ?ltr01.
have N0 : 0 <= norm T + 1 by rewrite addr_ge0 ?norm_ge0 ?ler01.
have M0 : 0 < M by rewrite ltr_paddl ?mulr_ge0 ?ltr01.
have [delta d0 linear] := jacobian (a / (4 * W)) (divr_gt0 a0 (mulr_gt0 (ltr0n _ 4) W0)).
pose t := Num.min (r / 2) (Num.min (1 / (c + 1)) (Num.min (delta / (2 * W)) (a / (4 * M)))).
have c1 : 0 < c + 1 by rewrite ltr_paddl ?ltr01.
have t0 : 0 < t by rewrite !lt_minr !divr_gt0 ?mulr_gt0 ?ltr0n ?ltr01.
have tr : 0 < t < r.
  rewrite t0 (@le_lt_trans _ _ (r / 2)) ?le_minl ?lexx // ltr_pdivr_mulr ?ltr0n //.
  by rewrite mulr_natr mulr2n ltr_addl.
have tc : c * t <= 1.
  have : t <= 1 / (c + 1) by rewrite !le_minl lexx orbT.
  rewrite ler_pdivl_mulr // => le; apply: le_trans le.
  by rewrite mulrC ler_wpmul2l ?(ltW t0) // ler_addl ler01.
have td : t * W < delta.
  have : t <= delta / (2 * W) by rewrite !le_minl lexx !orbT.
  rewrite ler_pdivl_mulr ?mulr_gt0 ?ltr0n // => le.
  by apply: lt_le_trans le; rewrite mulrCA mulr_natl mulr2n ltr_addl mulr_gt0.
have ta : 4 * M * t <= a.
  have : t <= a / (4 * M) by rewrite !le_minl lexx !orbT.
  by rewrite ler_pdivl_mulr ?mulr_gt0 ?ltr0n // mulrC.
set d := curve t - theta; have dw := near _ tr; rewrite -/d in dw.
have dW : norm d <= t * W.
  have -> : d = t *: w + (d - t *: w) by rewrite addrC subrK.
  apply: le_trans (triangle _ _) _; rewrite normZ gtr0_norm // /W mulrDr mulr1 ler_add2l.
  by apply: le_trans dw _; rewrite expr2 mulrA ler_pimull ?(ltW t0).
set e := G (curve t) - G theta; have ev := values _ tr; rewrite -/e in ev.
have Td : norm (T *m d - e) <= a / (4 * W) * norm d.
  have := linear _ (le_lt_trans dW td); rewrite -normN opprB.
  by rewrite /d [theta + _]addrC subrK.
have : t * a <= a / (4 * W) * (t * W) + (norm T + 1) * (c * t ^+ 2).
  rewrite -[t in t * a]gtr0_norm // -normZ scalerBr scalemxAr [(norm T + 1) * _]mulrDl mul1r.
  have -> : T *m (t *: w) - t *: v = (T *m d - e) + (- (T *m (d - t *: w)) + (e - t *: v)).
    rewrite [T *m (d - _)]mulmxBr; move: (T *m d) (T *m (t *: w)) (t *: v) (e) => x y z u.
    by apply/matrixP => i j; rewrite !mxE; ring.
  apply: le_trans (triangle _ _) _; apply: ler_add.
    by apply: le_trans Td _; rewrite ler_wpmul2l // divr_ge0 ?mulr_ge0 ?ler0n ?(ltW a0) ?(ltW W0).
  apply: le_trans (triangle _ _) _; apply: ler_add; last exact: ev.
  rewrite normN; apply: le_trans (norm_mul_le _ _) _.
  by rewrite ler_wpmul2l ?norm_ge0.
have -> : a / (4 * W) * (t * W) = t * (a / 4) by field; rewrite gt_eqF.
have -> : (norm T + 1) * (c * t ^+ 2) = t * ((norm T + 1) * c * t) by ring.
rewrite -mulrDr ler_pmul2l // leNgt => /negP; apply.
have : (norm T + 1) * c * t < a / 4.
  rewrite ltr_pdivl_mulr ?ltr0n //; apply: lt_le_trans ta.
  have -> : 4 * M * t = (norm T + 1) * c * t * 4 + 4 * t by rewrite /M; ring.
  by rewrite ltr_addl mulr_gt0 ?ltr0n.
rewrite -(ltr_add2l (a / 4)) => /lt_le_trans; apply.
have -> : a / 4 + a / 4 = a / 2 by field.
by rewrite ler_pdivr_mulr ?ltr0n // ler_pmulr // ler1n.
Qed.

Section Scaling.
Variables (R : rcfType) (n : nat) (out : pred 'I_n) (s theta : 'cV[R]_n).

Lemma above_half t i : 0 < t < (2 * (norm s + 1))^-1 -> 2^-1 <= 1 + t * s i 0.
Proof.
move=> /andP[t0 small]; have S0 : 0 < norm s + 1 by rewrite ltr_paddl ?norm_ge0 ?ltr01.
have : `|t * s i 0| <= 2^-1.
  rewrite normrM gtr0_norm //; apply: le_trans (_ : t * (norm s + 1) <= _).
    rewrite ler_wpmul2l ?(ltW t0) //; apply: le_trans (entry_le s i) _.
    by rewrite ler_addl ler01.
  by rewrite -ler_pdivl_mulr // -invfM ltW.
rewrite ler_norml => /andP[low _].
by rewrite -ler_subl_addl (_ : 2^-1 - 1 = - 2^-1) //; field.
Qed.

Lemma scaled_close t : 0 < t < (2 * (norm s + 1))^-1 ->
  norm (scaled out s t theta - theta - t *: along_scaling out s theta) <=
  norm (\col_i (2 * s i 0 ^+ 2 * theta i 0) : 'cV[R]_n) * t ^+ 2.
Proof.
move=> small; rewrite mulrC; apply: norm_le; first exact: sqr_ge0.
rewrite [in X in X <= _]sq_column [in X in _ <= X]sq_column big_distrr; apply: ler_sum => i _ /=.
rewrite !mxE /factor; have half := above_half i small; set h := 1 + t * s i 0 in half *.
have h0 : 0 < h by apply: lt_le_trans half; rewrite invr_gt0 ltr0n.
case: (out i); last first.
  have -> : h * theta i 0 - theta i 0 - t * (s i 0 * theta i 0) = 0 by rewrite /h; ring.
  by rewrite expr0n mulr_ge0 ?exprn_even_ge0.
have -> : h^-1 * theta i 0 - theta i 0 - t * (- s i 0 * theta i 0) =
    (2 * h)^-1 * (t ^+ 2 * (2 * s i 0 ^+ 2 * theta i 0)).
  by rewrite /h; field; rewrite -/h gt_eqF.
have b : (2 * h)^-1 <= 1 by rewrite invf_le1 ?mulr_gt0 ?ltr0n // -ler_pdivr_mull ?ltr0n // mulr1.
rewrite exprMn [X in _ <= X](_ : _ = 1 * (t ^+ 2 * (2 * s i 0 ^+ 2 * theta i 0)) ^+ 2).
  by rewrite ler_wpmul2r ?sqr_ge0 // expr_le1 // invr_ge0 mulr_ge0 ?ler0n ?(ltW h0).
by rewrite mul1r [RHS]exprMn.
Qed.
End Scaling.

(* Behind a scaling the gradient is scaled the other way, so that its derivative is known. *)
Theorem scaling_at_every_point (R : rcfType) n (L : 'cV[R]_n -> R) (out : pred 'I_n)
    (s theta g : 'cV[R]_n) (T : 'M[R]_n) :
  (forall t x, (forall i, 0 < 1 + t * s i 0) -> L (scaled out s t x) = L x) ->
  is_gradient L theta g -> is_hessian L theta T ->
  T *m along_scaling out s theta = - along_scaling out s g.
Proof.
move=> invariant gradient [G [r r0 gradients] jacobian].
have G0 : G theta = g.
  by apply: gradient_unique gradient; have := gradients 0; rewrite norm0 addr0; apply.
set w := along_scaling out s theta.
pose v (y : 'cV[R]_n) := \col_i (2 * s i 0 ^+ 2 * y i 0) : 'cV[R]_n.
have S0 : 0 < norm s + 1 by rewrite ltr_paddl ?norm_ge0 ?ltr01.
have W0 : 0 < norm w + norm (v theta) + 1 by rewrite ltr_paddl ?addr_ge0 ?norm_ge0 ?ltr01.
pose q := Num.min (2 * (norm s + 1))^-1 (Num.min 1 (r / (norm w + norm (v theta) + 1))).
have q0 : 0 < q by rewrite !lt_minr invr_gt0 mulr_gt0 ?ltr0n ?ltr01 ?divr_gt0.
pose c := norm (v theta) + norm (v g).
apply: (@tangent _ _ _ G theta T w _ c q (fun t => scaled out s t theta)) => //.
- by rewrite addr_ge0 ?norm_ge0.
- move=> t /andP[t0]; rewrite !lt_minr => /and3P[small t1 tr].
  have smallt : 0 < t < (2 * (norm s + 1))^-1 by rewrite t0.
  have h0 i : 0 < 1 + t * s i 0.
    by apply: lt_le_trans (above_half i smallt); rewrite invr_gt0 ltr0n.
  set x := scaled out s t theta; pose D := diag_mx (\row_i factor out s t i).
  have Dx y : D *m y = scaled out s t y.
    by apply/matrixP => i j; rewrite mul_diag_mx !mxE ord1.
  have close : norm (x - theta) < r.
    have -> : x - theta = t *: w + (x - theta - t *: w) by rewrite [RHS]addrC subrK.
    apply: le_lt_trans (triangle _ _) _; rewrite normZ gtr0_norm //.
    apply: le_lt_trans (ler_add (lexx _) (scaled_close out theta smallt)) _.
    rewrite -/(v theta); apply: le_lt_trans (_ : t * (norm w + norm (v theta)) < r).
      rewrite mulrDr ler_add2l [t * norm (v theta)]mulrC expr2 mulrA ler_pimulr ?(ltW t1) //.
      by rewrite mulr_ge0 ?norm_ge0 ?(ltW t0).
    move: tr; rewrite ltr_pdivl_mulr // => tr; apply: le_lt_trans tr.
    by rewrite ler_wpmul2l ?(ltW t0) // ler_addl ler01.
  have gx : is_gradient L (D *m theta) (G x).
    by rewrite Dx; have := gradients _ close; rewrite [theta + _]addrC subrK.
  have gD : is_gradient L theta (D^T *m G x).
    move=> epsilon /(gradient_linear gx)[delta d0 A]; exists delta => // d /A.
    by rewrite !Dx !invariant.
  have := gradient_unique gD gradient; rewrite tr_diag_mx => DG.
  have -> : G x = scaled (predC out) s t g.
    apply/matrixP => i j; rewrite -DG mul_diag_mx !mxE !ord1 mulrA /factor /=.
    by case: (out i); rewrite /= ?mulfV ?mulVf ?mul1r // gt_eqF.
  have -> : - along_scaling out s g = along_scaling (predC out) s g.
    by apply/matrixP => i j; rewrite !mxE /= -mulNr; case: (out i); rewrite /= ?opprK.
  rewrite G0; apply: le_trans (scaled_close (predC out) g smallt) _.
  by rewrite ler_wpmul2r ?sqr_ge0 // ler_addr norm_ge0.
- move=> t /andP[t0]; rewrite !lt_minr => /and3P[small _ _].
  apply: le_trans (scaled_close _ _ _) _; first by rewrite t0.
  by rewrite ler_wpmul2r ?sqr_ge0 // ler_addl norm_ge0.
Qed.

Theorem theorem_1_null_space (R : rcfType) n (L : 'cV[R]_n -> R) (out : pred 'I_n)
    (s theta : 'cV[R]_n) (T : 'M[R]_n) :
  (forall t x, (forall i, 0 < 1 + t * s i 0) -> L (scaled out s t x) = L x) ->
  is_gradient L theta 0 -> is_hessian L theta T -> T *m along_scaling out s theta = 0.
Proof.
move=> invariant critical hessian; rewrite (scaling_at_every_point invariant critical hessian).
by apply/matrixP => i j; rewrite !mxE mulr0 oppr0.
Qed.

(* Nor has such a loss a slope along a scaling, at any point. *)
Theorem no_slope_along_scalings (R : rcfType) n (L : 'cV[R]_n -> R) (out : pred 'I_n)
    (s theta g : 'cV[R]_n) :
  (forall t x, (forall i, 0 < 1 + t * s i 0) -> L (scaled out s t x) = L x) ->
  is_gradient L theta g -> dot g (along_scaling out s theta) = 0.
Proof.
move=> invariant gradient; pose G x : 'cV[R]_1 := (L x - L theta)%:M.
pose v := \col_i (2 * s i 0 ^+ 2 * theta i 0) : 'cV[R]_n.
have q0 : 0 < (2 * (norm s + 1))^-1.
  by rewrite invr_gt0 mulr_gt0 ?ltr0n // ltr_paddl ?norm_ge0 ?ltr01.
rewrite dot_trace; suff -> : g^T *m along_scaling out s theta = 0 by rewrite linear0.
pose r := (2 * (norm s + 1))^-1.
apply: (@tangent _ _ _ G theta _ _ _ (norm v) r (fun t => scaled out s t theta)) => //.
- exact: norm_ge0.
- move=> epsilon /gradient[delta d0 near]; exists delta => // d /near.
  have -> : G (theta + d) - G theta - g^T *m d = (L (theta + d) - L theta - dot g d)%:M.
    by rewrite [g^T *m d]mx11_scalar /G subrr raddf0 subr0 -raddfB dot_trace trace_mx11.
  by rewrite /norm [sq _%:M]sq_scalar sqrtr_sqr.
- move=> t small; have h0 i : 0 < 1 + t * s i 0.
    by apply: lt_le_trans (above_half i small); rewrite invr_gt0 ltr0n.
  rewrite /G (invariant _ _ h0) !subrr scaler0 subr0 norm0.
  by rewrite mulr_ge0 ?norm_ge0 ?sqr_ge0.
by move=> t; apply: scaled_close.
Qed.

(* ---- the displayed loss: a layer of k units with weights on both sides, at one input ---- *)

Section Network.
Variables (R : rcfType) (k : nat) (x : R).
Implicit Types Z d : 'cV[R]_(k + (k + k)).
Definition incoming Z := usubmx Z.
Definition biases Z := usubmx (dsubmx Z).
Definition outgoing Z := dsubmx (dsubmx Z).
Definition network Z : 'cV[R]_k := \col_i (outgoing Z i 0 * (incoming Z i 0 * x + biases Z i 0)).

Lemma entry_le n (u : 'cV[R]_n) i : `|u i 0| <= norm u.
Proof.
rewrite -[`|_|]mul1r -ler_sqr ?nnegrE ?mulr_ge0 ?norm_ge0 // norm_sq mul1r real_normK ?num_real //.
by rewrite sq_column (bigD1 i) //= ler_addl sumr_ge0 // => j _; rewrite sqr_ge0.
Qed.

Let bound Z : 'cV[R]_k :=
  \col_i (`|incoming Z i 0 * x + biases Z i 0| + (`|outgoing Z i 0| + 1) * (`|x| + 1)).

Lemma network_close Z d : norm d <= 1 ->
  norm (network (Z + d) - network Z) <= norm d * norm (bound Z).
Proof.
move=> d1; apply: norm_le; first exact: norm_ge0.
rewrite -sqZ !sq_column; apply: ler_sum => i _.
rewrite -[X in X <= _]real_normK ?num_real // ler_sqr ?nnegrE //; last first.
  by rewrite !mxE mulr_ge0 ?norm_ge0 // addr_ge0 ?mulr_ge0 ?addr_ge0 ?ler01.
rewrite !mxE.
set a := Z (lshift _ _) _; set da := d (lshift _ _) _.
set c := Z (rshift _ (lshift _ _)) _; set dc := d (rshift _ (lshift _ _)) _.
set b := Z (rshift _ (rshift _ _)) _; set db := d (rshift _ (rshift _ _)) _.
have ha : `|da| <= norm d by exact: entry_le.
have hb : `|db| <= norm d by exact: entry_le.
have hc : `|dc| <= norm d by exact: entry_le.
have -> : (b + db) * ((a + da) * x + (c + dc)) - b * (a * x + c)
  = db * (a * x + c) + (b + db) * (da * x + dc) by ring.
have hw : `|da * x + dc| <= norm d * (`|x| + 1).
  apply: le_trans (ler_norm_add _ _) _; rewrite normrM mulrDr mulr1 ler_add //.
  by rewrite ler_wpmul2r.
apply: le_trans (ler_norm_add _ _) _; rewrite !normrM mulrDr ler_add //.
  by rewrite ler_wpmul2r.
have hbd : `|b + db| <= `|b| + 1.
  by apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2l (le_trans hb).
by rewrite mulrCA ler_pmul.
Qed.

Lemma critical (L : 'cV[R]_k -> R) g Z : is_gradient L (network Z) g ->
  is_gradient (fun Y => L (network Y) - dot g (network Y)) Z 0.
Proof.
move=> gradient epsilon e0; set K := norm (bound Z) + 1.
have K0 : 0 < K by rewrite ltr_paddl ?norm_ge0 ?ltr01.
have [delta d0 near] := gradient (epsilon / K) (divr_gt0 e0 K0).
exists (Num.min 1 (delta / K)); first by rewrite lt_minr ltr01 divr_gt0.
move=> d; rewrite lt_minr => /andP[d1 dK]; set e := network (Z + d) - network Z.
have eK : norm e <= norm d * K.
  apply: le_trans (network_close _ (ltW d1)) _.
  by rewrite ler_wpmul2l ?norm_ge0 // ler_addl ler01.
have small : norm e < delta by apply: le_lt_trans eK _; rewrite -ltr_pdivl_mulr.
have -> : network (Z + d) = network Z + e by rewrite /e [RHS]addrC subrK.
have -> : L (network Z + e) - dot g (network Z + e) - (L (network Z) - dot g (network Z))
  - dot 0 d = L (network Z + e) - L (network Z) - dot g e by rewrite dotDr dot0l; ring.
apply: le_trans (near _ small) _.
by rewrite -mulrA ler_wpmul2l ?(ltW e0) // mulrC ler_pdivr_mulr.
Qed.

Definition scaling (s : 'cV[R]_k) Z : 'cV[R]_(k + (k + k)) :=
  col_mx (\col_i (s i 0 * incoming Z i 0))
    (col_mx (\col_i (s i 0 * biases Z i 0)) (\col_i (- s i 0 * outgoing Z i 0))).

(* Scalings are those of the first section, and change no output. *)
Definition of_outgoing : pred 'I_(k + (k + k)) := fun i => (k + k <= i)%N.
Definition for_each (s : 'cV[R]_k) : 'cV[R]_(k + (k + k)) := col_mx s (col_mx s s).

Lemma sides i : [/\ of_outgoing (lshift _ i) = false, of_outgoing (rshift k (lshift k i)) = false
  & of_outgoing (rshift k (rshift k i))].
Proof.
split; first by apply/negbTE; rewrite -ltnNge /= ltn_addr.
  by apply/negbTE; rewrite -ltnNge /= ltn_add2l.
by rewrite /of_outgoing /= leq_add2l leq_addr.
Qed.
Lemma each s i : [/\ for_each s (lshift _ i) 0 = s i 0,
  for_each s (rshift k (lshift k i)) 0 = s i 0 & for_each s (rshift k (rshift k i)) 0 = s i 0].
Proof. by split; rewrite ?col_mxEu ?col_mxEd ?col_mxEu ?col_mxEd. Qed.

Lemma scaling_along s Z : scaling s Z = along_scaling of_outgoing (for_each s) Z.
Proof.
apply/matrixP => i j; rewrite ord1 [RHS]mxE -[i]splitK; case: (split i) => i' /=.
  by have [[-> _ _] [-> _ _]] := (sides i', each s i'); rewrite col_mxEu !mxE.
rewrite col_mxEd -[i']splitK; case: (split i') => i'' /=.
  by have [[_ -> _] [_ -> _]] := (sides i'', each s i''); rewrite col_mxEu !mxE.
by have [[_ _ ->] [_ _ ->]] := (sides i'', each s i''); rewrite col_mxEd !mxE.
Qed.

Lemma network_scaled s t Z : (forall i, 0 < 1 + t * for_each s i 0) ->
  network (scaled of_outgoing (for_each s) t Z) = network Z.
Proof.
move=> positive; apply/matrixP => i j; rewrite !mxE /factor.
have [[-> -> ->] [S_a -> ->]] := (sides i, each s i); have := positive (lshift _ i).
by rewrite S_a => h; field; rewrite gt_eqF.
Qed.
End Network.

(* The loss less what is linear in the outputs is critical at theta; scalings do not change it. *)
Theorem scalings_in_null_space (R : rcfType) k (x : R) (L : 'cV[R]_k -> R) (g s : 'cV[R]_k)
    (theta : 'cV[R]_(k + (k + k))) (T : 'M[R]_(k + (k + k))) :
  is_gradient L (network x theta) g ->
  is_hessian (fun Z => L (network x Z) - dot g (network x Z)) theta T ->
  T *m scaling s theta = 0.
Proof.
move=> gradient hessian; rewrite scaling_along.
apply: theorem_1_null_space (critical gradient) hessian => t Z positive.
by rewrite network_scaled.
Qed.

Theorem no_slope_of_a_network (R : rcfType) k (x : R) (L : 'cV[R]_k -> R) (s : 'cV[R]_k)
    (theta g : 'cV[R]_(k + (k + k))) :
  is_gradient (fun Z => L (network x Z)) theta g -> dot g (scaling s theta) = 0.
Proof.
move=> gradient; rewrite scaling_along.
by apply: no_slope_along_scalings gradient => t Z positive; rewrite network_scaled.
Qed.

Theorem network_at_every_point (R : rcfType) k (x : R) (L : 'cV[R]_k -> R) (s : 'cV[R]_k)
    (theta g : 'cV[R]_(k + (k + k))) (T : 'M[R]_(k + (k + k))) :
  is_gradient (fun Z => L (network x Z)) theta g -> is_hessian (fun Z => L (network x Z)) theta T ->
  T *m scaling s theta = - scaling s g.
Proof.
move=> gradient hessian; rewrite !scaling_along.
by apply: scaling_at_every_point gradient hessian => t Z positive; rewrite network_scaled.
Qed.

(* Gradients and Hessians of functions of vectors and matrices, by their definitions with epsilon
   and delta.  They make sense over any real closed field; over the real numbers they are the usual
   ones.

     is_gradient f x g      f(x + d) = f(x) + <g, d> + o(|d|)            (Frechet)
     is_jacobian G x J      G(x + d) = G(x) + J d + o(|d|)
     is_hessian f x T       f has gradients near x, and T is their Jacobian at x
     second_derivative L t l    the same for a function of one number

   What is differentiated here are functions of affine functions and sums of them, which is all that
   a dense or a convolutional layer is to its parameters. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Definitions.
Variable R : rcfType.

Definition norm m n (u : 'M[R]_(m, n)) : R := Num.sqrt (sq u).

Definition is_gradient m n (f : 'M[R]_(m, n) -> R) x g := forall epsilon, 0 < epsilon ->
  exists2 delta, 0 < delta &
  forall d, norm d < delta -> `|f (x + d) - f x - dot g d| <= epsilon * norm d.

Definition is_jacobian n p (G : 'cV[R]_n -> 'cV[R]_p) x (J : 'M[R]_(p, n)) :=
  forall epsilon, 0 < epsilon -> exists2 delta, 0 < delta &
  forall d, norm d < delta -> norm (G (x + d) - G x - J *m d) <= epsilon * norm d.

Definition is_hessian n (f : 'cV[R]_n -> R) x (T : 'M[R]_n) := exists2 G : 'cV[R]_n -> 'cV[R]_n,
  (exists2 r, 0 < r & forall d, norm d < r -> is_gradient f (x + d) (G (x + d)))
  & is_jacobian G x T.

Definition is_derivative (L : R -> R) t l := forall epsilon, 0 < epsilon ->
  exists2 delta, 0 < delta & forall s, `|s| < delta -> `|L (t + s) - L t - l * s| <= epsilon * `|s|.

Definition second_derivative (L : R -> R) t l := exists2 L' : R -> R,
  (exists2 r, 0 < r & forall s, `|s| < r -> is_derivative L (t + s) (L' (t + s)))
  & is_derivative L' t l.
End Definitions.

Section Norm.
Variable R : rcfType.

Lemma norm_ge0 m n (u : 'M[R]_(m, n)) : 0 <= norm u. Proof. exact: sqrtr_ge0. Qed.
Lemma norm_sq m n (u : 'M[R]_(m, n)) : norm u ^+ 2 = sq u.
Proof. by rewrite sqr_sqrtr ?sq_ge0. Qed.
Lemma norm_le m n m' n' (u : 'M[R]_(m, n)) (v : 'M[R]_(m', n')) c : 0 <= c ->
  sq u <= c ^+ 2 * sq v -> norm u <= c * norm v.
Proof.
move=> c0 h; rewrite -ler_sqr ?nnegrE ?mulr_ge0 ?norm_ge0 //.
by rewrite exprMn !norm_sq.
Qed.
Lemma norm0 m n : norm (0 : 'M[R]_(m, n)) = 0.
Proof. by rewrite /norm sq0 sqrtr0. Qed.
Lemma norm_gt0 m n (u : 'M[R]_(m, n)) : (0 < norm u) = (u != 0).
Proof. by rewrite sqrtr_gt0 sq_gt0. Qed.
Lemma normZ m n a (u : 'M[R]_(m, n)) : norm (a *: u) = `|a| * norm u.
Proof. by rewrite /norm sqZ sqrtrM ?sqr_ge0 // sqrtr_sqr. Qed.
Lemma normN m n (u : 'M[R]_(m, n)) : norm (- u) = norm u.
Proof. by rewrite /norm sqN. Qed.
Lemma dot_le m n (u v : 'M[R]_(m, n)) : `|dot u v| <= norm u * norm v.
Proof.
rewrite -ler_sqr ?nnegrE ?mulr_ge0 ?norm_ge0 ?normr_ge0 // exprMn !norm_sq.
by rewrite real_normK ?num_real // cauchy_schwarz.
Qed.
Lemma triangle m n (u v : 'M[R]_(m, n)) : norm (u + v) <= norm u + norm v.
Proof.
rewrite -ler_sqr ?nnegrE ?addr_ge0 ?norm_ge0 // norm_sq sqD sqrrD !norm_sq.
rewrite ler_add2r ler_add2l mulr_natl ler_pmuln2r //.
exact: le_trans (ler_norm _) (dot_le _ _).
Qed.

(* |A D| <= |A| |D|. *)
Lemma sq_mul_le m n p (A : 'M[R]_(m, n)) (D : 'M[R]_(n, p)) : sq (A *m D) <= sq A * sq D.
Proof.
rewrite (sq_columns D) big_distrr (sq_columns (A *m D)) /=; apply: ler_sum => j _.
rewrite sq_column (sq_rows A) big_distrl /=; apply: ler_sum => i _.
have -> : col j (A *m D) i 0 = dot (row i A)^T (col j D).
  by rewrite dot_column !mxE; apply: eq_bigr => k _; rewrite !mxE.
exact: cauchy_schwarz.
Qed.
Lemma norm_mul_le m n p (A : 'M[R]_(m, n)) (D : 'M[R]_(n, p)) : norm (A *m D) <= norm A * norm D.
Proof. by apply: norm_le; rewrite ?norm_ge0 // norm_sq sq_mul_le. Qed.
End Norm.

Section Uniqueness.
Variable R : rcfType.

(* A small step in any direction. *)
Lemma small_step m n (u : 'M[R]_(m, n)) delta : 0 < delta ->
  exists2 t, 0 < t & norm (t *: u) < delta.
Proof.
move=> d0; have n1 : 0 < norm u + 1 by rewrite ltr_paddl ?norm_ge0 ?ltr01.
have t0 : 0 < delta / (norm u + 1) by rewrite divr_gt0.
exists (delta / (norm u + 1)) => //; rewrite normZ gtr0_norm // mulrAC ltr_pdivr_mulr //.
by rewrite ltr_pmul2l // ltr_addl ltr01.
Qed.

(* What is smaller than every multiple of |d| and linear is zero. *)
Lemma gradient_unique m n (f : 'M[R]_(m, n) -> R) x g h :
  is_gradient f x g -> is_gradient f x h -> g = h.
Proof.
move=> fg fh; apply/eqP; rewrite -subr_eq0; apply/negPn/negP => u0.
set u := g - h in u0; have nu : 0 < norm u by rewrite norm_gt0.
have e0 : 0 < norm u / 4 by rewrite divr_gt0 ?ltr0n.
have [d1 d10 G1] := fg _ e0; have [d2 d20 G2] := fh _ e0.
have [|t t0 small] := @small_step _ _ u (Num.min d1 d2); first by rewrite lt_minr d10.
move: small; rewrite lt_minr => /andP[/G1 A /G2 B].
have : `|dot u (t *: u)| <= norm u / 4 * norm (t *: u) + norm u / 4 * norm (t *: u).
  apply: le_trans (ler_add A B); rewrite addrC -[X in _ + X]normrN.
  apply: le_trans (ler_norm_add _ _); rewrite le_eqVlt; apply/orP; left; apply/eqP.
  by rewrite /u dotBl; congr `|_|; ring.
rewrite dotZr -/(sq u) -norm_sq normZ !normrM (gtr0_norm t0) (ger0_norm (norm_ge0 u)) -expr2.
have -> : norm u / 4 * (t * norm u) + norm u / 4 * (t * norm u) = t * norm u ^+ 2 / 2 by field.
have p : 0 < t * norm u ^+ 2 by rewrite mulr_gt0 // exprn_gt0.
by rewrite ler_pdivl_mulr ?ltr0n // ger_pmulr // lern1.
Qed.

Lemma jacobian_unique n p (G : 'cV[R]_n -> 'cV[R]_p) x J K (r : R) (G' : 'cV[R]_n -> 'cV[R]_p) :
  0 < r -> (forall d, norm d < r -> G (x + d) = G' (x + d)) ->
  is_jacobian G x J -> is_jacobian G' x K -> J = K.
Proof.
move=> r0 same GJ GK; suff zero (v : 'cV[R]_n) : (J - K) *m v = 0.
  apply/eqP; rewrite -subr_eq0; apply/eqP/matrixP => i j.
  by have := congr1 (fun w : 'cV_p => w i 0) (zero (delta_mx j 0)); rewrite -colE !mxE.
apply/eqP/negPn/negP => w0; set w := (J - K) *m v in w0.
have nw : 0 < norm w by rewrite norm_gt0.
have n1 : 0 < norm v + 1 by rewrite ltr_paddl ?norm_ge0 ?ltr01.
have e0 : 0 < norm w / (4 * (norm v + 1)) by rewrite divr_gt0 // mulr_gt0 ?ltr0n.
have [d1 d10 G1] := GJ _ e0; have [d2 d20 G2] := GK _ e0.
have [|t t0 small] := @small_step _ _ v (Num.min r (Num.min d1 d2)).
  by rewrite !lt_minr r0 d10.
move: small; rewrite !lt_minr => /and3P[/same E /G1 A /G2 B].
have G0 : G x = G' x by have := same 0; rewrite norm0 addr0; apply.
have := ler_add B A; rewrite -[X in X + _ <= _]normN => {}A.
have := le_trans (triangle _ _) A; rewrite E G0.
have -> : - (G' (x + t *: v) - G' x - K *m (t *: v)) + (G' (x + t *: v) - G' x - J *m (t *: v)) =
    - (t *: w).
  by move: (_ - G' x) => X; rewrite /w mulmxBl scalerBr -!scalemxAr !opprB addrA subrK.
rewrite normN !normZ (gtr0_norm t0); apply/negP; rewrite -ltNge.
have -> : norm w / (4 * (norm v + 1)) * (t * norm v) + norm w / (4 * (norm v + 1)) * (t * norm v) =
    t * norm w / 2 * (norm v / (norm v + 1)) by field; rewrite gt_eqF.
have h0 : 0 < t * norm w / 2 by rewrite divr_gt0 ?mulr_gt0 ?ltr0n.
apply: le_lt_trans (_ : t * norm w / 2 < _).
  rewrite ger_pmulr // ler_pdivr_mulr // mul1r ler_addl; exact: ler01.
by rewrite ltr_pdivr_mulr ?ltr0n // ltr_pmulr ?mulr_gt0 // ltr1n.
Qed.

Lemma hessian_unique n (f : 'cV[R]_n -> R) x T V : is_hessian f x T -> is_hessian f x V -> T = V.
Proof.
move=> [G [r r0 near] GT] [G' [r' r'0 near'] GV].
apply: (jacobian_unique (r := Num.min r r')) GT GV; first by rewrite lt_minr r0.
move=> d; rewrite lt_minr => /andP[dr dr'].
exact: gradient_unique (near _ dr) (near' _ dr').
Qed.
End Uniqueness.

Section Chain.
Variable R : rcfType.

(* f of an affine function: phi is its linear part, psi the adjoint of phi. *)
Lemma gradient_affine m n p q (f : 'M[R]_(p, q) -> R) (F phi : 'M[R]_(m, n) -> 'M[R]_(p, q))
    (psi : 'M[R]_(p, q) -> 'M[R]_(m, n)) c x g :
  (forall d, F (x + d) = F x + phi d) -> (forall d, dot g (phi d) = dot (psi g) d) ->
  (forall d, norm (phi d) <= c * norm d) ->
  is_gradient f (F x) g -> is_gradient (fun x => f (F x)) x (psi g).
Proof.
move=> affine adjoint bound fg epsilon e0; pose b := Num.max c 1.
have b0 : 0 < b by rewrite lt_maxr ltr01 orbT.
have {}bound d : norm (phi d) <= b * norm d.
  by apply: le_trans (bound d) _; rewrite ler_wpmul2r ?norm_ge0 // le_maxr lexx.
have [delta d0 near] := fg _ (divr_gt0 e0 b0); exists (delta / b); first by rewrite divr_gt0.
move=> d; rewrite ltr_pdivl_mulr // mulrC => small.
rewrite affine -adjoint; apply: le_trans (near _ (le_lt_trans (bound d) small)) _.
apply: le_trans (_ : epsilon / b * (b * norm d) <= _).
  by rewrite ler_wpmul2l // ltW ?divr_gt0.
by rewrite mulrA divfK // gt_eqF.
Qed.

Lemma gradient_linear m n q (A : 'M[R]_(m, n)) (f : 'M[R]_(m, q) -> R) x g :
  is_gradient f (A *m x) g -> is_gradient (fun x => f (A *m x)) x (A^T *m g).
Proof.
apply: (gradient_affine (phi := fun d => A *m d) (psi := fun g => A^T *m g) (c := norm A)).
- by move=> d; rewrite mulmxDr.
- by move=> d; rewrite dotC dot_mul dotC.
exact: norm_mul_le.
Qed.

(* The chain rule for Hessians: A' T A. *)
Lemma hessian_linear m n (A : 'M[R]_(m, n)) (f : 'cV[R]_m -> R) x T :
  is_hessian f (A *m x) T -> is_hessian (fun x => f (A *m x)) x (A^T *m T *m A).
Proof.
move=> [G [r r0 near] GT]; exists (fun x => A^T *m G (A *m x)).
  have c0 : 0 < norm A + 1 by rewrite ltr_paddl ?norm_ge0 ?ltr01.
  exists (r / (norm A + 1)); first by rewrite divr_gt0.
  move=> d small; apply: gradient_linear; rewrite mulmxDr; apply: near.
  apply: le_lt_trans (norm_mul_le _ _) _; move: small; rewrite ltr_pdivl_mulr // mulrC.
  apply: le_lt_trans; rewrite ler_wpmul2r ?norm_ge0 //.
  by rewrite ler_addl ler01.
move=> epsilon e0; pose c := norm A + 1.
have c0 : 0 < c by rewrite ltr_paddl ?norm_ge0 ?ltr01.
have Ac : norm A <= c by rewrite ler_addl ler01.
have [delta d0 close] := GT _ (divr_gt0 e0 (mulr_gt0 c0 c0)).
exists (delta / c); first by rewrite divr_gt0.
move=> d; rewrite ltr_pdivl_mulr // mulrC => small.
have Ad : norm (A *m d) <= c * norm d.
  by apply: le_trans (norm_mul_le _ _) _; rewrite ler_wpmul2r ?norm_ge0.
have -> : A^T *m G (A *m (x + d)) - A^T *m G (A *m x) - A^T *m T *m A *m d =
    A^T *m (G (A *m x + A *m d) - G (A *m x) - T *m (A *m d)).
  by rewrite mulmxDr !mulmxBr !mulmxA.
apply: le_trans (norm_mul_le _ _) _.
have -> : norm A^T = norm A.
  by rewrite /norm sq_rows sq_columns; congr Num.sqrt; apply: eq_bigr => i _; rewrite tr_row trmxK.
apply: le_trans (_ : c * (epsilon / (c * c) * (c * norm d)) <= _).
  apply: ler_pmul => //; rewrite ?norm_ge0 //.
  apply: le_trans (close _ (le_lt_trans Ad small)) _.
  by rewrite ler_wpmul2l // ltW // divr_gt0 // mulr_gt0.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; field; rewrite gt_eqF.
Qed.

(* A function of one number, of an inner product. *)
Lemma hessian_ridge n (L : R -> R) (u x : 'cV[R]_n) l :
  second_derivative L (dot u x) l -> is_hessian (fun x => L (dot u x)) x (l *: (u *m u^T)).
Proof.
move=> [L' [r r0 near] L'l]; pose c := norm u + 1.
have c0 : 0 < c by rewrite ltr_paddl ?norm_ge0 ?ltr01.
have ud (d : 'cV[R]_n) : `|dot u d| <= c * norm d.
  by apply: le_trans (dot_le _ _) _; rewrite ler_wpmul2r ?norm_ge0 // ler_addl ler01.
have inside s (d : 'cV[R]_n) : norm d < s / c -> `|dot u d| < s.
  by rewrite ltr_pdivl_mulr // mulrC; apply: le_lt_trans.
exists (fun x => L' (dot u x) *: u).
  exists (r / c); first by rewrite divr_gt0.
  move=> d /inside small epsilon e0; have [delta d0 close] := near _ small _ (divr_gt0 e0 c0).
  exists (delta / c); first by rewrite divr_gt0.
  move=> h /inside hs; rewrite !dotDr dotZl; apply: le_trans (close _ hs) _.
  apply: le_trans (_ : epsilon / c * (c * norm h) <= _).
    by rewrite ler_wpmul2l // ltW // divr_gt0.
  by rewrite mulrA divfK // gt_eqF.
move=> epsilon e0; have [delta d0 close] := L'l _ (divr_gt0 e0 (mulr_gt0 c0 c0)).
exists (delta / c); first by rewrite divr_gt0.
move=> d /inside small; have -> : l *: (u *m u^T) *m d = (l * dot u d) *: u.
  rewrite -scalemxAl -mulmxA -scalerA; congr (_ *: _); rewrite -mul_mx_scalar; congr (_ *m _).
  apply/matrixP => i j; rewrite !ord1 mxE dot_column !mxE mulr1n.
  by apply: eq_bigr => k _; rewrite mxE.
rewrite dotDr -!scalerBl normZ.
apply: le_trans (_ : epsilon / (c * c) * (c * norm d) * c <= _).
  apply: ler_pmul => //; rewrite ?norm_ge0 //; last by rewrite ler_addl ler01.
  apply: le_trans (close _ small) _; rewrite ler_wpmul2l // ltW //.
  by rewrite divr_gt0 // mulr_gt0.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; field; rewrite gt_eqF.
Qed.
End Chain.

Section Sums.
Variables (R : rcfType) (n : nat).
Implicit Types (f : 'cV[R]_n -> R) (x : 'cV[R]_n).

Lemma gradient_add f h x g k : is_gradient f x g -> is_gradient h x k ->
  is_gradient (fun x => f x + h x) x (g + k).
Proof.
move=> fg hk epsilon e0; have h0 : 0 < epsilon / 2 by rewrite divr_gt0 ?ltr0n.
have [d1 d10 A] := fg _ h0; have [d2 d20 B] := hk _ h0.
exists (Num.min d1 d2); first by rewrite lt_minr d10.
move=> d; rewrite lt_minr => /andP[/A {}A /B {}B].
have -> : epsilon * norm d = epsilon / 2 * norm d + epsilon / 2 * norm d by field.
apply: le_trans (ler_add A B); apply: le_trans (ler_norm_add _ _).
by rewrite dotDl le_eqVlt; apply/orP; left; apply/eqP; congr `|_|; ring.
Qed.

Lemma hessian_add f h x T V : is_hessian f x T -> is_hessian h x V ->
  is_hessian (fun x => f x + h x) x (T + V).
Proof.
move=> [G [r r0 near] GT] [K [s s0 near'] KV]; exists (fun x => G x + K x).
  exists (Num.min r s); first by rewrite lt_minr r0.
  by move=> d; rewrite lt_minr => /andP[/near A /near' B]; apply: gradient_add.
move=> epsilon e0; have h0 : 0 < epsilon / 2 by rewrite divr_gt0 ?ltr0n.
have [d1 d10 A] := GT _ h0; have [d2 d20 B] := KV _ h0.
exists (Num.min d1 d2); first by rewrite lt_minr d10.
move=> d; rewrite lt_minr => /andP[/A {}A /B {}B].
have -> : epsilon * norm d = epsilon / 2 * norm d + epsilon / 2 * norm d by field.
apply: le_trans (ler_add A B); apply: le_trans (triangle _ _).
rewrite le_eqVlt; apply/orP; left; apply/eqP; congr norm.
by rewrite [RHS]addrACA [X in _ = X + _]addrACA -!opprD mulmxDl.
Qed.

Lemma hessian_zero x : is_hessian (fun _ => 0) x 0.
Proof.
exists (fun _ => 0).
  exists 1; first exact: ltr01.
  move=> d _ epsilon e0; exists 1 => [|h _]; first exact: ltr01.
  by rewrite dot0l !subr0 normr0 mulr_ge0 ?norm_ge0 // ltW.
move=> epsilon e0; exists 1 => [|d _]; first exact: ltr01.
by rewrite mul0mx !subr0 norm0 mulr_ge0 ?norm_ge0 // ltW.
Qed.

Lemma hessian_scale f x T a : is_hessian f x T -> is_hessian (fun x => a * f x) x (a *: T).
Proof.
have c0 : 0 < `|a| + 1 by rewrite ltr_paddl ?normr_ge0 ?ltr01.
have ac : `|a| <= `|a| + 1 by rewrite ler_addl ler01.
move=> [G [r r0 near] GT]; exists (fun x => a *: G x).
  exists r => // d /near fG epsilon e0; have [delta d0 A] := fG _ (divr_gt0 e0 c0).
  exists delta => // h /A {}A; rewrite dotZl -!mulrBr normrM.
  apply: le_trans (_ : (`|a| + 1) * (epsilon / (`|a| + 1) * norm h) <= _).
    by apply: ler_pmul; rewrite ?normr_ge0.
  by rewrite mulrA mulrCA mulfV ?mulr1 // gt_eqF.
move=> epsilon e0; have [delta d0 A] := GT _ (divr_gt0 e0 c0).
exists delta => // h /A {}A; rewrite -scalemxAl -!scalerBr normZ.
apply: le_trans (_ : (`|a| + 1) * (epsilon / (`|a| + 1) * norm h) <= _).
  by apply: ler_pmul; rewrite ?normr_ge0 ?norm_ge0.
by rewrite mulrA mulrCA mulfV ?mulr1 // gt_eqF.
Qed.

Lemma hessian_ext f h x T : f =1 h -> is_hessian f x T -> is_hessian h x T.
Proof.
move=> fh [G [r r0 near] GT]; exists G => //; exists r => // d /near fG epsilon /fG[delta d0 A].
by exists delta => // k /A; rewrite !fh.
Qed.

Lemma hessian_sum N (f : 'I_N -> 'cV[R]_n -> R) x (T : 'I_N -> 'M[R]_n) :
  (forall j, is_hessian (f j) x (T j)) -> is_hessian (fun x => \sum_j f j x) x (\sum_j T j).
Proof.
move=> each; elim: (index_enum _) => [|j r IH].
  by rewrite big_nil; apply: hessian_ext (hessian_zero x) => y; rewrite big_nil.
rewrite big_cons; apply: hessian_ext (hessian_add (each j) IH) => y.
by rewrite big_cons.
Qed.
End Sums.

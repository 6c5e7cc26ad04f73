(* Lemma A1 (van der Sluis): scaling the columns to norm one is within root n of the best scaling,

     kappa(F D) <= sqrt n kappa(F D_0),   D = diag(1/|f_1|, ..., 1/|f_n|), D_0 nonsingular diagonal.

   Full column rank is not needed, only columns that are not zero.  Let a and b bound the quotients
   of F D_0.  Each column gives d_0i^2 |f_i|^2 <= b, so a vector loses at most the factor b when the
   diagonal is divided out: |F D x|^2 >= (a/b) |x|^2.  From above |F D x|^2 <= lambda |x|^2 with the
   largest eigenvalue lambda of D F'F D, at most its trace n.

   Where the columns fall into two blocks of mutually orthogonal ones (Property A) there is no
   factor: the signs of one block changed take an eigenvector to l into one to 2 - l, so that the
   extreme eigenvectors have entries of the same absolute values, which no diagonal tells apart. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct ConditionNumber.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(* D: every column is divided by its norm. *)
Definition unit_columns (R : rcfType) m n (F : 'M[R]_(m, n)) : 'rV[R]_n :=
  \row_i (Num.sqrt (sq (col i F)))^-1.

Definition nonzero (R : ringType) n (d : 'rV[R]_n) := forall i, d 0 i != 0.

(* Property A of F'F: in each of two blocks of columns, p and not p, all are orthogonal. *)
Definition property_A (R : realFieldType) m n (F : 'M[R]_(m, n)) (p : pred 'I_n) :=
  forall i j, i != j -> p i = p j -> dot (col i F) (col j F) = 0.

Section EqualColumns.
Variables (R : rcfType) (m n : nat) (F : 'M[R]_(m, n)) (c : R) (d : 'rV[R]_n).
Hypothesis c_gt0 : 0 < c.
(* All columns of F D have the squared norm c. *)
Hypothesis equal : forall i, d 0 i ^+ 2 * sq (col i F) = c.
Local Notation D := (diag_mx d).

Lemma diag_column (d1 : 'rV[R]_n) i :
  F *m diag_mx d1 *m delta_mx i 0 = d1 0 i *: col i F.
Proof.
rewrite -mulmxA -colE.
have -> : col i (diag_mx d1) = d1 0 i *: delta_mx i 0.
  by apply/matrixP => j k; rewrite !mxE !ord1 eqxx andbT; case: eqP => [->|_];
    rewrite ?mulr1 // mulr0.
by rewrite -scalemxAr -colE.
Qed.
Lemma diag_mul (d1 : 'rV[R]_n) (x : 'cV[R]_n) i : (diag_mx d1 *m x) i 0 = d1 0 i * x i 0.
Proof. by rewrite mul_diag_mx mxE. Qed.

Lemma d_neq0 : nonzero d.
Proof. by move=> i; apply: contraTneq c_gt0 => z; rewrite -(equal i) z expr0n mul0r ltxx. Qed.

(* From above, the trace: n. *)
Lemma equal_above (x : 'cV_n) : sq (F *m D *m x) <= n%:R * c * sq x.
Proof.
have row j : ((F *m D *m x) j 0) ^+ 2 <= (\sum_i (F j i * d 0 i) ^+ 2) * sq x.
  have -> : (F *m D *m x) j 0 = dot (\col_i (F j i * d 0 i)) x.
    rewrite -mulmxA mxE dot_column; apply: eq_bigr => i _.
    by rewrite diag_mul [in RHS]mxE mulrA.
  apply: le_trans (cauchy_schwarz _ _) _; rewrite ler_wpmul2r ?sq_ge0 // sq_column.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; apply: eq_bigr => i _; rewrite mxE.
rewrite [X in X <= _]sq_column; apply: le_trans (ler_sum _ (fun j _ => row j)) _.
rewrite -big_distrl /= exchange_big /= ler_wpmul2r ?sq_ge0 //.
have -> : n%:R * c = \sum_(i < n) c by rewrite sumr_const card_ord mulr_natl.
rewrite le_eqVlt; apply/orP; left; apply/eqP; apply: eq_bigr => i _; rewrite -(equal i).
rewrite sq_column big_distrr /=; apply: eq_bigr => j _.
by rewrite mxE exprMn mulrC.
Qed.

Section Other.
Variables (d0 : 'rV[R]_n) (a b : R).
Hypothesis d0_neq0 : nonzero d0.
Local Notation D0 := (diag_mx d0).

Definition quotient (f g : 'rV[R]_n) : 'rV[R]_n := \row_i (f 0 i / g 0 i).
Lemma quotientE f g (x : 'cV_n) : nonzero g ->
  diag_mx g *m (diag_mx (quotient f g) *m x) = diag_mx f *m x.
Proof.
move=> g0; apply/matrixP => i j; rewrite !ord1 !diag_mul mxE mulrA mulrCA mulfV ?mulr1 //.
Qed.

Hypothesis a_ge0 : 0 <= a.
Hypothesis b_gt0 : 0 < b.
Hypothesis within : quotients_within (F *m D0) a b.

Lemma column_bound i : d0 0 i ^+ 2 * sq (col i F) <= b.
Proof.
have := quotients_above (ltW b_gt0) within (delta_mx i 0).
by rewrite diag_column sqZ sq_delta mulr1.
Qed.

Lemma stretched (z : 'cV_n) : c * sq (diag_mx (quotient d0 d) *m z) <= b * sq z.
Proof.
rewrite !sq_column !big_distrr /=; apply: ler_sum => i _.
rewrite diag_mul mxE exprMn mulrA ler_wpmul2r ?sqr_ge0 //.
have -> : c * (d0 0 i / d 0 i) ^+ 2 = d0 0 i ^+ 2 * sq (col i F).
  by rewrite -(equal i); field; exact: d_neq0.
exact: column_bound.
Qed.

(* From below. *)
Lemma equal_below x : orthogonal_to_null (F *m D) x -> a * (c / b) * sq x <= sq (F *m D *m x).
Proof.
move=> ox; pose z0 := diag_mx (quotient d d0) *m x.
have [w Fw ow] := null_vector_part (F *m D0) z0.
have Fz : F *m D *m x = F *m D0 *m (z0 - w).
  by rewrite mulmxBr Fw subr0 -!mulmxA quotientE.
have /andP[lo _] := within ow; rewrite Fz; apply: le_trans lo.
rewrite -mulrA ler_wpmul2l // mulrAC ler_pdivr_mulr // [_ * b]mulrC.
apply: le_trans (stretched _); rewrite ler_wpmul2l ?(ltW c_gt0) //.
pose v := diag_mx (quotient d0 d) *m w.
have -> : diag_mx (quotient d0 d) *m (z0 - w) = x - v.
  rewrite mulmxBr; congr (_ - _); apply/matrixP => i j; rewrite !ord1 !diag_mul !mxE !mulrA.
  by rewrite divfK ?d_neq0 // mulfV ?mul1r.
rewrite sqB ox ?mulr0 ?subr0 ?ler_addl ?sq_ge0 //.
by rewrite -!mulmxA quotientE ?mulmxA //; exact: d_neq0.
Qed.
End Other.

(* The lemma with any bound lambda from above, at any rank. *)
Lemma equal_columns (d0 : 'rV[R]_n) lambda K K0 : nonzero d0 ->
  0 <= lambda -> (forall x : 'cV_n, sq (F *m D *m x) <= lambda * c * sq x) ->
  condition_number (F *m D) K -> condition_number (F *m diag_mx d0) K0 ->
  K ^+ 2 <= lambda * K0 ^+ 2.
Proof.
move=> nz l0 high kD k0; have [a [b [a0 b0 bE within]]] := condition_number_quotients k0.
have cb : 0 < c / b by rewrite divr_gt0.
have K20 : 0 < K0 ^+ 2 by rewrite exprn_gt0 // (condition_number_gt0 k0).
have scaled : quotients_within (F *m D) (a * (c / b)) (lambda * c).
  move=> x ox; rewrite high andbT; apply: (equal_below nz (ltW a0) b0 within) ox.
have := condition_number_le kD (mulr_gt0 a0 cb) scaled.
have -> : lambda * c = lambda * K0 ^+ 2 * (a * (c / b)).
  by rewrite bE; field; rewrite !gt_eqF // (condition_number_gt0 k0).
by rewrite ler_pmul2r // mulr_gt0.
Qed.

(* Property A: no factor. *)
Lemma property_A_optimal (p : pred 'I_n) (d0 : 'rV[R]_n) K K0 : nonzero d0 ->
  full_column_rank F -> property_A F p ->
  condition_number (F *m D) K -> condition_number (F *m diag_mx d0) K0 -> K <= K0.
Proof.
move=> nz full PA kD k0; have [a [b [a0 b0 bE within]]] := condition_number_quotients k0.
have injective (g : 'rV[R]_n) : nonzero g -> forall x : 'cV_n, F *m diag_mx g *m x = 0 -> x = 0.
  move=> g0 x; rewrite -mulmxA => /(full_column_rankP F).1 => /(_ full) z.
  apply/matrixP => i j; rewrite !ord1; apply: (mulfI (g0 i)).
  by rewrite -diag_mul z !mxE mulr0.
pose J : 'M[R]_n := diag_mx (\row_i (-1) ^+ p i).
have Jx (x : 'cV_n) i : (J *m x) i 0 = (-1) ^+ p i * x i 0 by rewrite diag_mul mxE.
have sign (i : 'I_n) : ((-1) ^+ p i) ^+ 2 = 1 :> R by rewrite sqrr_sign.
have sqJ (x : 'cV_n) : sq (J *m x) = sq x.
  by rewrite !sq_column; apply: eq_bigr => i _; rewrite Jx exprMn sign mul1r.
pose G := F *m D; have entry i j : (G^T *m G) i j = d 0 i * d 0 j * dot (col i F) (col j F).
  rewrite mxE dot_column big_distrr /=; apply: eq_bigr => k _.
  by rewrite mxE /G !mul_mx_diag !mxE mulrACA mulrC.
have flip : J *m (G^T *m G) *m J = (2 * c)%:M - G^T *m G.
  move: (G^T *m G) entry => M entry; apply/matrixP => i j.
  rewrite mul_mx_diag mul_diag_mx !mxE.
  have [->|ij] := eqVneq i j.
    rewrite mulr1n entry -expr2 mulrAC -expr2 sign mul1r -/(sq _) equal.
    by rewrite mulr_natl mulr2n addrK.
  rewrite mulr0n sub0r entry; have [pij|pij] := eqVneq (p i) (p j).
    by rewrite PA // !mulr0 mul0r oppr0.
  have -> : (-1) ^+ p i = - (-1) ^+ p j :> R.
    by move: pij; case: (p i); case: (p j) => // _; rewrite ?expr1 ?expr0 ?opprK.
  by move: (d 0 i * d 0 j * _) => x; rewrite !mulNr mulrAC -expr2 sign mul1r.
have [Q [f [o E form im eig]]] := in_eigenbasis (gram_symmetric G).
have nonempty : (0 < n)%N.
  by have [s [t [_ [[_ [x [x0 _]]] _ _] _]]] := kD; case: (posnP n) x0 => // n0; case/negP;
    apply/eqP/matrixP => i; exfalso; have := ltn_ord i; rewrite [X in (_ < X)%N]n0.
have [k least] : exists k, forall j, f k <= f j.
  by case: (@arg_minP _ _ _ (Ordinal nonempty) xpredT f) => // k _ l; exists k => j; apply: l.
pose l := f k; have [x0 Gx] := eig k; set x := Q *m _ in x0 Gx.
have xp : 0 < sq x by rewrite sq_gt0.
have reflect i : l <= 2 * c - f i.
  have [y0 Gy] := eig i; set y := Q *m _ in y0 Gy.
  have eJ : eigenvector (G^T *m G) (2 * c - f i) (J *m y).
    have JJ (z : 'cV_n) : J *m (J *m z) = z.
      apply/matrixP => r s; rewrite !ord1 !Jx mulrA -expr2 sign mul1r //.
    split; first by rewrite -sq_gt0 sqJ sq_gt0.
    have := congr1 (fun M => J *m (M *m y)) flip; rewrite -!mulmxA JJ => ->.
    by rewrite mulmxBl Gy mul_scalar_mx -scalerBl -scalemxAr.
  have [_ GJ] := eJ.
  have [j /eqP zj] : exists j, (Q^T *m (J *m y)) j 0 != 0.
    apply/existsP; apply: contraT; rewrite negb_exists => /forallP z.
    have := eJ.1; rewrite -sq_gt0 E big1 ?ltxx // => j _.
    by have := z j; rewrite negbK => /eqP ->; rewrite expr0n.
  by have := im (J *m y) j; rewrite GJ -scalemxAr mxE => /(mulIf (introN eqP zj)) ->; apply: least.
have quotients : quotients_within G l (2 * c - l).
  move=> y _; rewrite -gram_form form E !big_distrr /=; apply/andP; split; apply: ler_sum => i _.
    by rewrite ler_wpmul2r ?sqr_ge0 // least.
  by rewrite ler_wpmul2r ?sqr_ge0 // ler_subr_addr -ler_subr_addl reflect.
have Gl : sq (G *m x) = l * sq x by rewrite -gram_form Gx dotZr.
have GJl : sq (G *m (J *m x)) = (2 * c - l) * sq x.
  rewrite -gram_form -{1}(sqJ x) dot_mul tr_diag_mx -/J.
  have := congr1 (fun M => dot x (M *m x)) flip; rewrite -!mulmxA => ->.
  by rewrite mulmxBl Gx mul_scalar_mx -scalerBl dotZr sqJ.
have lp : 0 < l.
  rewrite -(pmulr_lgt0 _ xp) -Gl sq_gt0; apply: contraNneq x0 => z.
  by apply/eqP; apply: injective z; apply: d_neq0.
(* D_0 does not tell x from J x. *)
pose u := diag_mx (quotient d d0) *m x.
have moved (y : 'cV_n) : F *m diag_mx d0 *m (diag_mx (quotient d d0) *m y) = G *m y.
  by rewrite -!mulmxA quotientE.
have same : sq (diag_mx (quotient d d0) *m (J *m x)) = sq u.
  rewrite !sq_column; apply: eq_bigr => i _.
  by rewrite diag_mul Jx diag_mul mulrCA exprMn sign mul1r.
have all (y : 'cV_n) : a * sq y <= sq (F *m diag_mx d0 *m y) <= b * sq y.
  by apply: within => w /(injective _ nz) ->; rewrite dot0r.
have := all (diag_mx (quotient d d0) *m (J *m x)); rewrite moved same GJl => /andP[_ {}up].
have := all u; rewrite moved Gl => /andP[{}lo _].
have Kp := condition_number_gt0 kD; have K0p := condition_number_gt0 k0.
rewrite -ler_sqr ?nnegrE ?(ltW Kp) ?(ltW K0p) // -(ler_pmul2r (mulr_gt0 lp xp)).
apply: le_trans (_ : (2 * c - l) * sq x <= _).
  by rewrite mulrA ler_pmul2r // (condition_number_le kD lp quotients).
apply: le_trans up _; rewrite bE -mulrA ler_wpmul2l //.
by rewrite exprn_ge0 // ltW.
Qed.
End EqualColumns.

Section UnitColumns.
Variables (R : rcfType) (m n : nat) (F : 'M[R]_(m, n)).
Hypothesis columns : forall i, col i F != 0.

Lemma unit_columns_norm i : unit_columns F 0 i ^+ 2 * sq (col i F) = 1.
Proof. by rewrite mxE exprVn sqr_sqrtr ?sq_ge0 // mulVf // sq_eq0. Qed.
End UnitColumns.

Lemma full_rank_columns (R : rcfType) m n (F : 'M[R]_(m, n)) i :
  full_column_rank F -> col i F != 0.
Proof.
move=> /full_column_rankP inj; apply/negP => /eqP z.
have := inj (delta_mx i 0); rewrite -colE z => /(_ erefl) => /matrixP/(_ i 0).
by rewrite !mxE !eqxx => /eqP; rewrite oner_eq0.
Qed.

(* With the largest eigenvalue of D F'F D, or what is at least that, at any rank. *)
Theorem lemma_A1_by_largest (R : rcfType) m n (F : 'M[R]_(m, n)) (d0 : 'rV[R]_n) lambda K K0 :
  let D := diag_mx (unit_columns F) in let D0 := diag_mx d0 in
  (forall i, col i F != 0) -> nonzero d0 ->
  0 <= lambda -> at_least_eigenvalues ((F *m D)^T *m (F *m D)) lambda ->
  condition_number (F *m D) K -> condition_number (F *m D0) K0 -> K ^+ 2 <= lambda * K0 ^+ 2.
Proof.
move=> D D0 columns nz l0 high; apply: (equal_columns ltr01 (unit_columns_norm columns) nz l0).
by move=> x; rewrite mulr1; apply: quotients_at_least.
Qed.

(* The factor root n, at any rank. *)
Theorem lemma_A1_any_rank (R : rcfType) m n (F : 'M[R]_(m, n)) (d0 : 'rV[R]_n) K K0 :
  let D := diag_mx (unit_columns F) in let D0 := diag_mx d0 in
  (forall i, col i F != 0) -> nonzero d0 ->
  condition_number (F *m D) K -> condition_number (F *m D0) K0 -> K <= Num.sqrt n%:R * K0.
Proof.
move=> D D0 columns nz kD k0; have K0p := ltW (condition_number_gt0 k0).
have Kp := ltW (condition_number_gt0 kD).
rewrite -ler_sqr ?nnegrE ?mulr_ge0 ?sqrtr_ge0 // exprMn sqr_sqrtr ?ler0n //.
apply: (equal_columns ltr01 (unit_columns_norm columns) nz (ler0n _ _) _ kD k0) => x.
exact: equal_above (unit_columns_norm columns) x.
Qed.

(* Lemma A1 as printed, for every nonsingular diagonal D_0. *)
Theorem lemma_A1 (R : rcfType) m n (F : 'M[R]_(m, n)) (d0 : 'rV[R]_n) K K0 :
  let D := diag_mx (unit_columns F) in let D0 := diag_mx d0 in
  full_column_rank F -> nonzero d0 ->
  condition_number (F *m D) K -> condition_number (F *m D0) K0 -> K <= Num.sqrt n%:R * K0.
Proof. by move=> D D0 full; apply: lemma_A1_any_rank => i; apply: full_rank_columns. Qed.

(* Under Property A, so for up to two columns, scaling to norm one is optimal. *)
Theorem lemma_A1_property_A (R : rcfType) m n (F : 'M[R]_(m, n)) (d0 : 'rV[R]_n) p K K0 :
  let D := diag_mx (unit_columns F) in let D0 := diag_mx d0 in
  full_column_rank F -> property_A F p -> nonzero d0 ->
  condition_number (F *m D) K -> condition_number (F *m D0) K0 -> K <= K0.
Proof.
move=> D D0 full PA nz; apply: (property_A_optimal ltr01 _ nz full PA).
by move=> i; apply: unit_columns_norm => j; apply: full_rank_columns.
Qed.

Lemma two_columns_property_A (R : rcfType) m n (F : 'M[R]_(m, n)) : (n <= 2)%N ->
  property_A F (fun i => val i == 0%N).
Proof.
move=> n2 i j ij pij; case/eqP: ij; apply/val_inj; move: pij => /=.
have := leq_trans (ltn_ord i) n2; have := leq_trans (ltn_ord j) n2.
by case: (nat_of_ord i) => [|[|?]]; case: (nat_of_ord j) => [|[|?]].
Qed.

Theorem lemma_A1_two_columns (R : rcfType) m n (F : 'M[R]_(m, n)) (d0 : 'rV[R]_n) K K0 :
  let D := diag_mx (unit_columns F) in let D0 := diag_mx d0 in
  full_column_rank F -> (n <= 2)%N -> nonzero d0 ->
  condition_number (F *m D) K -> condition_number (F *m D0) K0 -> K <= K0.
Proof.
move=> D D0 full n2 nz kD k0.
exact: lemma_A1_property_A full (two_columns_property_A F n2) nz kD k0.
Qed.

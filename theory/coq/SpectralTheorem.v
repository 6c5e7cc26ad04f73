(* The spectral theorem over every real closed field (the real numbers, the real algebraic numbers):

     a symmetric matrix A is Q diag(d) Q' with Q orthogonal.

   A real closed field is an ordered field in which a polynomial that changes its sign has a root
   in between.  That root gives the eigenvalue of an arrowhead matrix (a number, a border, a
   diagonal), to which induction brings every symmetric matrix; a reflection takes the eigenvector
   to the first unit vector, and induction does the rest. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section SpectralTheorem.
Variable R : rcfType.

(* ---- an eigenvector of [[a, c'], [c, diag(d)]] ---- *)

Section Arrowhead.
Variables (n : nat) (a : R) (c d : 'I_n -> R).

(* (t, y) is an eigenvector to l. *)
Definition arrowhead_eigenvector (l t : R) (y : 'I_n -> R) :=
  [/\ (t != 0) || [exists i, y i != 0],
      a * t + \sum_i c i * y i = l * t
    & forall i, c i * t + d i * y i = l * y i].

Lemma sum_at (f : 'I_n -> R) k : \sum_i f i * (i == k)%:R = f k.
Proof.
rewrite (bigD1 k) //= eqxx mulr1 big1 ?addr0 // => i ik.
by rewrite (negbTE ik) mulr0.
Qed.

Lemma border_zero i : c i = 0 -> arrowhead_eigenvector (d i) 0 (fun j => (j == i)%:R).
Proof.
move=> ci; split; first by apply/orP; right; apply/existsP; exists i; rewrite eqxx oner_neq0.
  by rewrite sum_at ci !mulr0 addr0.
by move=> j; rewrite mulr0 add0r; case: eqP => [->|_] //; rewrite !mulr0.
Qed.

Lemma double_entry j k : c j != 0 -> j != k -> d j = d k ->
  arrowhead_eigenvector (d k) 0 (fun i => c j * (i == k)%:R - c k * (i == j)%:R).
Proof.
move=> cj jk djk; split.
- apply/orP; right; apply/existsP; exists k.
  by rewrite eqxx [k == j]eq_sym (negbTE jk) mulr1 mulr0 subr0.
- rewrite mulr0 add0r mulr0; under eq_bigr do rewrite mulrBr !mulrA.
  rewrite sumrB (eq_bigr (fun i => (c i * c j) * (i == k)%:R)) // sum_at.
  by rewrite (eq_bigr (fun i => (c i * c k) * (i == j)%:R)) // sum_at mulrC subrr.
move=> i; rewrite mulr0 add0r; have [-> //|_] := eqVneq i k.
by have [->|_] := eqVneq i j; rewrite ?djk // !mulr0 subr0 !mulr0.
Qed.

(* The characteristic polynomial. *)
Definition secular : {poly R} := ('X - a%:P) * \prod_i ('X - (d i)%:P)
  - \sum_i (c i ^+ 2)%:P * \prod_(j | j != i) ('X - (d j)%:P).

Lemma secularE x : secular.[x] =
  (x - a) * \prod_i (x - d i) - \sum_i c i ^+ 2 * \prod_(j | j != i) (x - d j).
Proof.
rewrite /secular hornerD hornerN hornerM hornerXsubC horner_prod horner_sum.
under eq_bigr do rewrite hornerXsubC; congr (_ - _); apply: eq_bigr => i _.
by rewrite hornerM hornerC horner_prod; under eq_bigr do rewrite hornerXsubC.
Qed.

Lemma secular_factor x : (forall i, x - d i != 0) ->
  secular.[x] = \prod_i (x - d i) * (x - a - \sum_i c i ^+ 2 / (x - d i)).
Proof.
move=> nz; rewrite secularE mulrBr mulrC; congr (_ - _).
rewrite big_distrr /=; apply: eq_bigr => i _.
by rewrite [RHS]mulrC [in RHS](bigD1 i) //= mulrA divfK.
Qed.

Lemma secular_root x : (forall i, x - d i != 0) -> root secular x ->
  arrowhead_eigenvector x 1 (fun i => c i / (x - d i)).
Proof.
move=> nz; rewrite rootE secular_factor // mulf_eq0 => /orP[|/eqP rt].
  by rewrite prodf_seq_eq0 => /hasP[i _ /=]; rewrite (negbTE (nz i)).
split; first by rewrite oner_neq0.
  rewrite !mulr1; under eq_bigr do rewrite mulrA -expr2.
  by move/eqP: rt; rewrite subr_eq0 => /eqP <-; rewrite addrC subrK.
move=> i; have := nz i; move: (c i) (d i) => u v uv; rewrite mulr1.
by apply: (mulIf uv); rewrite mulrDl -!mulrA mulVf // !mulr1; ring.
Qed.

Variable k : 'I_n.
Hypothesis border : forall i, c i != 0.
Hypothesis largest : forall j, j != k -> d j < d k.

Lemma largest_le i : d i <= d k.
Proof. by have [->|/largest/ltW] := eqVneq i k. Qed.

Lemma secular_at_largest : secular.[d k] < 0.
Proof.
rewrite secularE (bigD1 k) //= subrr mul0r mulr0 sub0r oppr_lt0 (bigD1 k) //=.
rewrite [\sum_(_ < _ | _) _]big1 => [|i ik].
  rewrite addr0 mulr_gt0 ?exprn_even_gt0 ?border //.
  by apply: prodr_gt0 => j jk; rewrite subr_gt0 largest.
by rewrite (bigD1 k) /= ?subrr ?mul0r ?mulr0 // eq_sym.
Qed.

Definition far : R := d k + 1 + (`|a - d k| + \sum_i c i ^+ 2).

Lemma far_gap i : 1 <= far - d i.
Proof.
have squares : 0 <= \sum_i c i ^+ 2 by apply: sumr_ge0 => j _; apply: sqr_ge0.
have -> : far - d i = 1 + ((d k - d i) + (`|a - d k| + \sum_i c i ^+ 2)) by rewrite /far; ring.
by rewrite ler_addl addr_ge0 ?subr_ge0 ?largest_le // addr_ge0.
Qed.

Lemma secular_far : 0 <= secular.[far].
Proof.
have pos i : 0 < far - d i by apply: lt_le_trans ltr01 (far_gap i).
rewrite secular_factor => [|i]; last by rewrite gt_eqF.
apply: mulr_ge0; first by apply: prodr_ge0 => i _; apply: ltW.
rewrite subr_ge0; apply: le_trans (_ : \sum_i c i ^+ 2 <= _).
  by apply: ler_sum => i _; rewrite ler_pdivr_mulr // ler_pemulr ?sqr_ge0 // far_gap.
rewrite -subr_ge0.
have -> : far - a - \sum_i c i ^+ 2 = (`|a - d k| - (a - d k)) + 1 by rewrite /far; ring.
by rewrite addr_ge0 // subr_ge0 ler_norm.
Qed.

Lemma secular_eigenvector : exists l t y, arrowhead_eigenvector l t y.
Proof.
have between : d k <= far by rewrite -subr_ge0; apply: le_trans ler01 (far_gap k).
have [|x /andP[low _] rt] := @poly_ivt _ secular _ _ between.
  by rewrite secular_far andbT ltW // secular_at_largest.
have xk : d k < x.
  rewrite lt_def low andbT; apply: contraTneq rt => ->.
  by rewrite rootE lt_eqF // secular_at_largest.
exists x, 1, (fun i => c i / (x - d i)); apply: secular_root => // i.
by rewrite subr_eq0 gt_eqF // (le_lt_trans (largest_le i)).
Qed.
End Arrowhead.

Lemma arrowhead n (a : R) (c d : 'I_n -> R) : exists l t y, arrowhead_eigenvector a c d l t y.
Proof.
have [i /eqP ci|border] := pickP (fun i => c i == 0).
  by exists (d i), 0, (fun j => (j == i)%:R); apply: border_zero.
case: n c d border => [|n] c d border.
  exists a, 1, (fun _ => 0); split; first by rewrite oner_neq0.
    by rewrite big_ord0 addr0.
  by case.
have {}border i : c i != 0 by rewrite border.
have [k top] : exists k, forall j, d j <= d k.
  by case: (@arg_maxP _ _ _ (ord0 : 'I_n.+1) xpredT d) => // k _ top; exists k => j; apply: top.
have [j /andP[jk /eqP djk]|single] := pickP (fun j => (j != k) && (d j == d k)).
  by exists (d k), 0, (fun i => c j * (i == k)%:R - c k * (i == j)%:R); apply: double_entry.
apply: (@secular_eigenvector _ a c d k border) => j jk.
by rewrite lt_def top // andbT eq_sym; have := single j; rewrite jk => /= ->.
Qed.

(* ---- every unit vector is the first column of an orthogonal matrix ---- *)

Lemma reflection n (x : 'cV[R]_(1 + n)) : sq x = 1 ->
  exists Q : 'M[R]_(1 + n), Q^T *m Q = 1%:M /\ Q *m delta_mx 0 0 = x.
Proof.
move=> x1; set u : 'cV[R]_(1 + n) := delta_mx 0 0; pose v := x - u.
have [v0|vn] := eqVneq v 0.
  exists 1%:M; rewrite trmx1 mulmx1 mul1mx; split=> //.
  by apply/esym/eqP; rewrite -subr_eq0; apply/eqP.
have s0 : sq v != 0 by rewrite sq_eq0.
have xu : 2 * dot v u = - sq v.
  by rewrite /v dotBl sqB -/(sq u) sq_delta x1; ring.
pose Q : 'M[R]_(1 + n) := 1%:M - (2 / sq v) *: (v *m v^T).
have Qy y : Q *m y = y - (2 / sq v * dot v y) *: v.
  rewrite mulmxBl mul1mx -scalemxAl -mulmxA; congr (_ - _).
  have -> : v^T *m y = (dot v y)%:M.
    apply/matrixP => i j; rewrite !ord1 dot_column !mxE mulr1n.
    by apply: eq_bigr => k _; rewrite mxE.
  by rewrite mul_mx_scalar scalerA.
have QT : Q^T = Q by rewrite /Q linearB linearZ /= trmx1 trmx_mul trmxK.
exists Q; split; last first.
  rewrite Qy; have -> : 2 / sq v * dot v u = -1 by rewrite mulrAC xu mulNr divff.
  by rewrite scaleN1r opprK addrC subrK.
rewrite QT {2}/Q mulmxBr mulmx1 -scalemxAr mulmxA Qy -/(sq v).
have -> : 2 / sq v * sq v = 2 by rewrite divfK.
have -> : v - 2 *: v = - v by rewrite scaler_nat mulr2n opprD addrA subrr sub0r.
by rewrite mulNmx scalerN opprK /Q subrK.
Qed.

(* ---- the theorem ---- *)

Definition diagonalized n (A : 'M[R]_n) := exists (Q : 'M[R]_n) (d : 'rV[R]_n),
  Q^T *m Q = 1%:M /\ A = Q *m diag_mx d *m Q^T.

Lemma bordered_eigenvector n (A : 'M[R]_(1 + n)) : A^T = A -> diagonalized (drsubmx A) ->
  exists l (x : 'cV[R]_(1 + n)), x != 0 /\ A *m x = l *: x.
Proof.
move=> sym [Q [d [o AQ]]].
have QQ : Q *m Q^T = 1%:M by apply: mulmx1C.
have [b dl] : exists b, dlsubmx A = Q *m b.
  by exists (Q^T *m dlsubmx A); rewrite mulmxA QQ mul1mx.
pose a := A 0 0.
have [l [t [y [nz first rest]]]] := arrowhead a (fun i => b i 0) (fun i => d 0 i).
pose w : 'cV[R]_n := \col_i y i; exists l, (col_mx t%:M (Q *m w)); split.
  rewrite -sq_eq0 sq_col_mx sq_scalar sq_orthogonal // gt_eqF //.
  case/orP: nz => [t0|/existsP[i yi]].
    by rewrite ltr_paddr ?sq_ge0 // exprn_even_gt0.
  rewrite ltr_paddl ?sqr_ge0 // sq_gt0; apply: contraNneq yi => /matrixP/(_ i 0).
  by rewrite !mxE => ->.
have ul : ulsubmx A = a%:M by apply/matrixP => i j; rewrite !ord1 !mxE !lshift0 mulr1n.
have ur : ursubmx A = (dlsubmx A)^T by rewrite trmx_dlsub sym.
rewrite -{1}[A]submxK ul ur AQ dl mul_block_col scale_col_mx; congr col_mx.
  rewrite trmx_mul -mulmxA [Q^T *m (Q *m w)]mulmxA o mul1mx.
  apply/matrixP => i j; rewrite !ord1 !mxE !mulr1n big_ord1 !mxE !mulr1n -first; congr (_ + _).
  by apply: eq_bigr => k _; rewrite !mxE.
rewrite -!mulmxA [Q^T *m (Q *m w)]mulmxA o mul1mx -mulmxDr scalemxAr; congr (_ *m _).
apply/matrixP => i j; rewrite !ord1 mxE mul_diag_mx mul_mx_scalar !mxE -rest.
by rewrite mulrC.
Qed.

Lemma deflation n (B : 'M[R]_(1 + n)) l : B^T = B ->
  B *m delta_mx 0 0 = l *: (delta_mx 0 0 : 'cV_(1 + n)) -> B = block_mx l%:M 0 0 (drsubmx B).
Proof.
move=> sym Bu; have column i : B i 0 = l * (i == 0)%:R.
  by have := congr1 (fun M : 'cV_(1 + n) => M i 0) Bu; rewrite -colE !mxE eqxx andbT.
have zero : lshift n 0 = 0 :> 'I_(1 + n) by apply/val_inj.
have dl : dlsubmx B = 0.
  by apply/matrixP => i j; rewrite !ord1 !mxE zero column mulr0.
rewrite -[LHS]submxK dl -[ursubmx B]trmxK trmx_ursub sym dl trmx0; congr block_mx.
by apply/matrixP => i j; rewrite !ord1 !mxE zero column eqxx mulr1 mulr1n.
Qed.

Lemma spectral n (A : 'M[R]_n) : A^T = A -> diagonalized A.
Proof.
elim: n A => [|n IH] A sym.
  by exists 1%:M, 0; rewrite trmx1 mulmx1; split=> //; apply/matrixP; case.
have [|l [x [x0 Ax]]] := @bordered_eigenvector n A sym.
  by apply: IH; rewrite trmx_drsub sym.
pose s := Num.sqrt (sq x); pose u := s^-1 *: x.
have u1 : sq u = 1 by rewrite sqZ exprVn sqr_sqrtr ?sq_ge0 // mulVf // sq_eq0.
have Au : A *m u = l *: u by rewrite -scalemxAr Ax !scalerA mulrC.
have [P [o Pu]] := reflection u1; have PP : P *m P^T = 1%:M by apply: mulmx1C.
pose B := P^T *m A *m P : 'M[R]_(1 + n).
have symB : B^T = B by rewrite /B !trmx_mul trmxK sym mulmxA.
have Bu : B *m delta_mx 0 0 = l *: (delta_mx 0 0 : 'cV_(1 + n)).
  by rewrite -!mulmxA Pu Au -scalemxAr -{1}Pu mulmxA o mul1mx.
have [|Q [d [oQ BQ]]] := IH (drsubmx B); first by rewrite trmx_drsub symB.
pose T := block_mx 1%:M 0 0 Q : 'M[R]_(1 + n).
have oT : T^T *m T = 1%:M.
  by rewrite /T tr_block_mx mulmx_block !trmx0 trmx1 !mulmx0 !mul0mx mulmx1 !addr0 oQ add0r
    -scalar_mx_block.
exists (P *m T), (row_mx l%:M d); split.
  by rewrite trmx_mul mulmxA -[T^T *m P^T *m P]mulmxA o mulmx1.
have {}BQ : B = T *m diag_mx (row_mx l%:M d) *m T^T.
  rewrite diag_mx_row /T tr_block_mx !trmx0 trmx1 !mulmx_block !mulmx0 !mul0mx !mulmx1 !mul1mx
    !addr0 !add0r mul0mx (deflation symB Bu) BQ; congr block_mx.
  by apply/matrixP => i j; rewrite !ord1 !mxE.
have AB : A = P *m B *m P^T by rewrite /B !mulmxA PP mul1mx -mulmxA PP mulmx1.
by rewrite AB BQ trmx_mul !mulmxA.
Qed.
End SpectralTheorem.

Theorem spectral_theorem (R : rcfType) n (A : 'M[R]_n) : A^T = A ->
  exists (Q : 'M[R]_n) (d : 'rV[R]_n), Q^T *m Q = 1%:M /\ A = Q *m diag_mx d *m Q^T.
Proof. exact: spectral. Qed.

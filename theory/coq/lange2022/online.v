(* Section 4, online learning: with one example Hhat is one row.  Its condition number is 1, and so
   it is after any preconditioning; its Hessian L'' Hhat' Hhat has one eigenvalue that is not zero,
   the trace.

   A convolution has a row for each pixel.  With one weight of one channel the layer is better
   conditioned after the preconditioning than before, unless the map is constant or its mean is 0. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From BatchNorm Require Import InnerProduct ConditionNumber Preconditioning.
From BatchNorm.lange2022 Require Import theorem_4_centring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section OneRow.
Variables (R : rcfType) (n : nat) (F : 'M[R]_(1, n)).

Lemma one_row : F *m F^T = (sq F)%:M.
Proof. by rewrite [LHS]mx11_scalar /sq dot_trace mxtrace_mulC trace_mx11. Qed.

Lemma one_singular_value s : singular_value F s -> 0 < s -> s ^+ 2 = sq F.
Proof.
move=> [_ [x [x0 Fx]]] s0; have Fx0 : F *m x != 0.
  apply: contra x0 => /eqP z; move: Fx; rewrite -mulmxA z mulmx0 => /esym/eqP.
  by rewrite scaler_eq0 expf_eq0 gt_eqF.
have : s ^+ 2 *: (F *m x) = sq F *: (F *m x).
  by rewrite scalemxAr -Fx !mulmxA one_row mul_scalar_mx -scalemxAl.
by move=> /eqP; rewrite -subr_eq0 -scalerBl scaler_eq0 (negbTE Fx0) orbF subr_eq0 => /eqP.
Qed.
End OneRow.

Theorem online (R : rcfType) n (F : 'M[R]_(1, n)) K : condition_number F K -> K = 1.
Proof.
move=> [s [t [[svs top] [svt t0 bottom] ->]]]; have s0 : 0 < s by apply: lt_le_trans t0 (top _ svt).
have : s ^+ 2 = t ^+ 2 by rewrite !(one_singular_value (F := F)).
by move=> /eqP; rewrite eqr_expn2 ?ltW // => /eqP ->; rewrite divff // gt_eqF.
Qed.

Theorem online_rank_one (R : rcfType) n (H : 'M[R]_(1, n)) (slope : R) :
  let Hhat := augmented H in let M := slope *: (Hhat^T *m Hhat) in M *m M = \tr M *: M.
Proof.
move=> Hhat M; rewrite /M; set G := Hhat^T *m Hhat.
have GG : G *m G = sq Hhat *: G.
  by rewrite /G mulmxA -[_ *m _ *m Hhat^T]mulmxA one_row mul_mx_scalar -scalemxAl.
have -> : \tr (slope *: G) = slope * sq Hhat by rewrite mxtraceZ /sq dot_trace.
by rewrite -scalemxAl -scalemxAr GG !scalerA; congr (_ *: _); ring.
Qed.

(* A map of N pixels, not constant and with another mean than 0. *)
Theorem online_one_weight (R : rcfType) N (h : 'M[R]_(N, 1)) K : (0 < N)%N ->
  0 < variance h 0 0 -> mean h 0 0 != 0 -> condition_number (augmented h) K -> 1 < K.
Proof.
move=> N0 spread mu0 kH; have N1 := NR_gt0 R N0.
rewrite lt_def (condition_number_ge1 kH) andbT; apply: contra mu0 => /eqP K1.
have [a [b [a0 _ bE within]]] := condition_number_quotients kH.
have null (z : 'cV_(1 + 1)) : augmented h *m z = 0 -> z = 0.
  have [t [x ->]] := stackE z => /(null_augmented N0)[tE Cx].
  have xE : x = x 0 0 *: delta_mx 0 0.
    by apply/matrixP => i j; rewrite !mxE !ord1 mulr1.
  have C0 : sq (col 0 (centred h (mean h))) != 0.
    by apply: contraTneq spread => z0; rewrite variance_centred // z0 mulr0 ltxx.
  have x0 : x = 0.
    move: Cx; rewrite xE -scalemxAr -colE => /(congr1 (@sq _ _ _))/eqP.
    by rewrite sqZ sq0 mulf_eq0 (negbTE C0) orbF sqrf_eq0 => /eqP ->; rewrite scale0r.
  by rewrite tE x0 dot0r oppr0 /stack raddf0 col_mx0.
pose u : 'cV[R]_1 := const_mx 1.
have form t : N%:R * (t ^+ 2 + 2 * t * mean h 0 0) + sq (h *m u) = a * (t ^+ 2 + 1).
  have uE : sq u = 1 by rewrite sq_column big_ord1 mxE expr1n.
  have mE : dot (mean h) u = mean h 0 0 by rewrite dot_column big_ord1 [u _ _]mxE mulr1.
  rewrite -{1}mE -sq_augmented // -[X in _ = a * (_ + X)]uE -sq_stack.
  have /andP[lo hi] : a * sq (stack t u) <= sq (augmented h *m stack t u) <= b * sq (stack t u).
    by apply: within => y /null ->; rewrite dot0r.
  by apply/le_anti; rewrite lo andbT; rewrite bE K1 expr1n mul1r in hi.
have : 4 * N%:R * mean h 0 0 = 0.
  transitivity (a * (1 ^+ 2 + 1) - a * ((-1) ^+ 2 + 1)); last by ring.
  by rewrite -!form; ring.
by move=> /eqP; rewrite !mulf_eq0 pnatr_eq0 (gt_eqF N1).
Qed.

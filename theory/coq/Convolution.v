(* Convolution with zero padding, literally as paper L writes it in section 4, and its matrix.

   Maps have r rows and s columns, kernels k x k with k odd.  As in the text places (u, v) of a map
   are counted from 1, in integers, and a map is zero at every place outside of it: entry h u v.
   The indices of matrices, ordinals, are counted from 0: what the text calls row i has the number
   i - 1.

     half k               (k - 1)/2
     conv h w             the convolution, a map again
     vec h                the map as a column, its first index running first
     unfolded h k         H_p below (16): an s x k block matrix of r x k blocks *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp Require Import zify.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Maps.
Variables (R : rcfType) (r s : nat).
Implicit Types (h : 'M[R]_(r, s)).

(* The number of a place's row or column, if the map has it. *)
Definition place n (u : int) : option 'I_n := if u is Posz i.+1 then insub i else None.

Definition entry h (u v : int) : R :=
  if (place r u, place s v) is (Some x, Some y) then h x y else 0.

Definition half (k : nat) : nat := k.-1./2.

(* Conv(h, w)(i, j): the sum over p and q from 1 to k of
   h(i - (k+1)/2 + p, j - (k+1)/2 + q) w(p, q). *)
Definition conv k h (w : 'M[R]_(k, k)) : 'M[R]_(r, s) := \matrix_(i < r, j < s)
  \sum_(p < k) \sum_(q < k)
    entry h (i.+1%:Z - k.+1./2%:Z + p.+1%:Z) (j.+1%:Z - k.+1./2%:Z + q.+1%:Z) * w p q.

(* What is added up in (19): the window that w(t, a) meets, from row t - (k-1)/2 on. *)
Definition window_sum (f : int -> int -> R) k (t a : 'I_k) : R :=
  \sum_(x < r) \sum_(y < s) f (t.+1%:Z - (half k)%:Z + x%:Z) (a.+1%:Z - (half k)%:Z + y%:Z).

(* ---- an entry as a sum over the map ---- *)

Lemma placeE n (u : int) (x : 'I_n) : (place n u == Some x) = (u == x.+1%:Z).
Proof.
rewrite /place; case: u => [[|i]|i] //.
case: insubP => [y _ yi|]; last first.
  by rewrite -leqNgt => ni; apply/idP/idP => // /eqP[E]; have := ltn_ord x; lia.
by rewrite (inj_eq (@Some_inj _)) -val_eqE /= yi.
Qed.

Lemma entry_sum h u v :
  entry h u v = \sum_x \sum_y h x y * ((u == x.+1%:Z) && (v == y.+1%:Z))%:R.
Proof.
rewrite /entry; under eq_bigr do under eq_bigr do rewrite -!placeE.
case: (place r u) => [x|]; last by rewrite big1 // => x _; rewrite big1 // => y _; rewrite mulr0.
case: (place s v) => [y|]; last first.
  by rewrite big1 // => x' _; rewrite big1 // => y _; rewrite andbF mulr0.
rewrite (bigD1 x) //= (bigD1 y) //= !eqxx mulr1 [X in _ + X + _]big1 => [|y' ny]; last first.
  by rewrite (inj_eq (@Some_inj _)) [y == _]eq_sym (negbTE ny) mulr0.
rewrite big1 ?addr0 // => x' nx; rewrite big1 // => y' _.
by rewrite (inj_eq (@Some_inj _)) [x == _]eq_sym (negbTE nx) mulr0.
Qed.

Lemma entry_in h (x : 'I_r) (y : 'I_s) : entry h x.+1%:Z y.+1%:Z = h x y.
Proof. by rewrite /entry /place !valK. Qed.
End Maps.

(* ---- windows ---- *)

(* The rows (or columns) of a map of n that the window of the kernel's row t meets. *)
Definition kept n k (t : 'I_k) (x : 'I_n) : bool := (t <= x + half k < t + n)%N.

Lemma met_once n k (t : 'I_k) (x : 'I_n) :
  (\sum_(i < n) ((t.+1%:Z - (half k)%:Z + i%:Z)%R == x.+1%:Z))%N = kept t x.
Proof.
rewrite /kept; have [/andP[lo hi]|out] := boolP (_ <= _ < _)%N; last first.
  rewrite big1 // => i _; apply/eqP; rewrite eqb0; apply/eqP => E; case/negP: out.
  by have := ltn_ord i; lia.
have i0 : (x + half k - t < n)%N by lia.
rewrite (bigD1 (Ordinal i0)) //= big1 ?addn0 => [|i ni].
  by rewrite [X in nat_of_bool X](_ : _ = true) //; apply/eqP; lia.
by apply/eqP; rewrite eqb0; apply: contraNneq ni => E; apply/eqP/val_inj => /=; lia.
Qed.

Section Windows.
Variables (R : rcfType) (r s k : nat).
Implicit Types (h : 'M[R]_(r, s)) (t a : 'I_k).

(* The window adds up what it keeps; outside of the map there are zeros. *)
Lemma window_sum_kept h t a : window_sum r s (entry h) t a =
  \sum_x \sum_y h x y * (kept t x && kept a y)%:R.
Proof.
pose meets x y i j : R := h x y *
  ((t.+1%:Z - (half k)%:Z + i%:Z == x.+1%:Z) && (a.+1%:Z - (half k)%:Z + j%:Z == y.+1%:Z))%:R.
transitivity (\sum_(i < r) \sum_(j < s) \sum_x \sum_y meets x y i j).
  by apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite entry_sum.
transitivity (\sum_x \sum_y \sum_(i < r) \sum_(j < s) meets x y i j).
  transitivity (\sum_(i < r) \sum_x \sum_y \sum_(j < s) meets x y i j).
    apply: eq_bigr => i _; rewrite exchange_big; apply: eq_bigr => x _; exact: exchange_big.
  rewrite exchange_big; apply: eq_bigr => x _; exact: exchange_big.
apply: eq_bigr => x _; apply: eq_bigr => y _.
under eq_bigr => i _ do rewrite -big_distrr /=; rewrite -big_distrr /=; congr (_ * _).
rewrite -mulnb natrM -!met_once !natr_sum big_distrl /=; apply: eq_bigr => i _.
by rewrite big_distrr /=; apply: eq_bigr => j _; rewrite -mulnb natrM.
Qed.
End Windows.

(* How many rows of n a window leaves out: |t - (k+1)/2|, t counted from 1, and at most n. *)
Definition outside n k (t : 'I_k) : nat := minn (`|t.+1%:Z - k.+1./2%:Z|)%N n.


Lemma count_below n c : (\sum_(x < n) (x < c)%N = minn c n)%N.
Proof.
elim: n => [|n IH]; first by rewrite big_ord0 minn0.
by rewrite big_ord_recr /= IH; lia.
Qed.
Lemma count_above n c : (\sum_(x < n) (c <= x)%N = n - c)%N.
Proof.
elim: n => [|n IH]; first by rewrite big_ord0.
by rewrite big_ord_recr /= IH; lia.
Qed.
Lemma count_kept n k (t : 'I_k) : (\sum_(x < n) kept t x = n - outside n t)%N.
Proof.
rewrite /kept /outside; have tk := ltn_ord t; have [tm|mt] := leqP t (half k).
  rewrite (eq_bigr (fun x : 'I_n => nat_of_bool (x < t + n - half k)%N)) => [|x _]; last first.
    by congr nat_of_bool; apply/idP/idP; lia.
  by rewrite count_below; move: tm; rewrite /half; lia.
rewrite (eq_bigr (fun x : 'I_n => nat_of_bool (t - half k <= x)%N)) => [|x _]; last first.
  by congr nat_of_bool; have xn := ltn_ord x; apply/idP/idP; lia.
by rewrite count_above; move: mt; rewrite /half; lia.
Qed.
Lemma outside_le_half n k (t : 'I_k) : odd k -> (outside n t <= half k)%N.
Proof. by rewrite /outside /half; have := ltn_ord t; lia. Qed.

(* ---- the statistics (19) to (22) of one channel of a batch ---- *)

Section Statistics.
Variables (R : rcfType) (N r s : nat) (h : 'I_N -> 'M[R]_(r, s)).

(* N r s *)
Definition pixels : R := N%:R * r%:R * s%:R.

(* (19) and (20): of the column of w(t, a), the zeros of the padding counted. *)
Definition mean_at k (t a : 'I_k) : R := pixels^-1 * \sum_i window_sum r s (entry (h i)) t a.
Definition variance_at k (t a : 'I_k) : R :=
  pixels^-1 * \sum_i window_sum r s (fun u v => (entry (h i) u v - mean_at t a) ^+ 2) t a.

(* (21) and (22): of the channel. *)
Definition map_mean : R := pixels^-1 * \sum_i \sum_x \sum_y h i x y.
Definition map_variance : R := pixels^-1 * \sum_i \sum_x \sum_y (h i x y - map_mean) ^+ 2.
End Statistics.

(* The part theta of the map that the window of w(t, a) leaves out. *)
Definition part_left_out (R : rcfType) r s k (t a : 'I_k) : R :=
  1 - (1 - (outside r t)%:R / r%:R) * (1 - (outside s a)%:R / s%:R).

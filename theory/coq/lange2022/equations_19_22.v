(* (19) to (22): the means and variances of the columns of the unfolded map, and of a channel.

   The column of w(t, a) holds, for every example, the window that it meets, the zeros of the
   padding included.  Those of the kernel's middle are the channel's own. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp Require Import zify.
From BatchNorm Require Import InnerProduct Convolution.
From BatchNorm.lange2022 Require Import lemma_8.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Columns.
Variables (R : rcfType) (N r s k : nat) (h : 'I_N -> 'M[R]_(r, s)).

(* The mean of a column of the matrices H_p of all examples, one below the other, and the mean
   square of its deviations. *)
Definition column_mean (q : 'I_(k * k)) : R :=
  (pixels R N r s)^-1 * \sum_i \sum_t unfolded (h i) k t q.
Definition column_variance (q : 'I_(k * k)) : R :=
  (pixels R N r s)^-1 * \sum_i \sum_t (unfolded (h i) k t q - column_mean q) ^+ 2.

Lemma column_window (f : R -> R) i (t a : 'I_k) :
  \sum_j f (unfolded (h i) k j (number (t, a))) =
  window_sum r s (fun u v => f (entry (h i) u v)) t a.
Proof.
rewrite /window_sum; under eq_bigr do rewrite mxE row_of_number column_of_number /=.
rewrite (@sum_number _ _ R (fun (x : 'I_r) (y : 'I_s) =>
  f (entry (h i) (1 - (half k)%:Z + x%:Z + t%:Z) (a.+1%:Z - (half k)%:Z + y%:Z)))).
apply: eq_bigr => x _; apply: eq_bigr => y _; congr (f (entry _ _ _)).
by lia.
Qed.

Lemma column_mean_window (t a : 'I_k) : column_mean (number (t, a)) = mean_at h t a.
Proof.
by congr (_ * _); apply: eq_bigr => i _; rewrite (column_window id).
Qed.
Lemma column_variance_window (t a : 'I_k) : column_variance (number (t, a)) = variance_at h t a.
Proof.
congr (_ * _); apply: eq_bigr => i _; rewrite column_mean_window.
exact: (column_window (fun z => (z - mean_at h t a) ^+ 2)).
Qed.

(* At the kernel's middle the window is the map. *)
Lemma middle_window (f : R -> R) i (t : 'I_k) : t = half k :> nat ->
  window_sum r s (fun u v => f (entry (h i) u v)) t t = \sum_x \sum_y f (h i x y).
Proof.
move=> middle; apply: eq_bigr => x _; apply: eq_bigr => y _; rewrite -[in RHS](entry_in (h i)).
by congr (f (entry _ _ _)); rewrite middle; lia.
Qed.
End Columns.

Theorem equation_19 (R : rcfType) N r s k (h : 'I_N -> 'M[R]_(r, s)) (t a : 'I_k) :
  column_mean h (number (t, a)) = mean_at h t a.
Proof. exact: column_mean_window. Qed.

Theorem equation_20 (R : rcfType) N r s k (h : 'I_N -> 'M[R]_(r, s)) (t a : 'I_k) :
  column_variance h (number (t, a)) = variance_at h t a.
Proof. exact: column_variance_window. Qed.

(* (21) and (22) are those of the kernel's middle, number (k-1)/2 counted from 0. *)
Theorem equation_21 (R : rcfType) N r s k (h : 'I_N -> 'M[R]_(r, s)) (t : 'I_k) :
  t = half k :> nat -> column_mean h (number (t, t)) = map_mean h.
Proof.
move=> middle; rewrite column_mean_window; congr (_ * _); apply: eq_bigr => i _.
exact: (middle_window h id).
Qed.

Theorem equation_22 (R : rcfType) N r s k (h : 'I_N -> 'M[R]_(r, s)) (t : 'I_k) :
  t = half k :> nat -> column_variance h (number (t, t)) = map_variance h.
Proof.
move=> middle; have mE := equation_21 h middle; rewrite column_mean_window in mE.
rewrite column_variance_window /variance_at mE; congr (_ * _); apply: eq_bigr => i _.
exact: (middle_window h (fun z => (z - map_mean h) ^+ 2)).
Qed.

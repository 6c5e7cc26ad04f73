(* Lemma 8 and (16): a convolution is a matrix product, a^ = H^ w^.

     vec h           the map as a column, its first index running first: h(u, i) has the number
                     (i - 1) r + u, counted from 1
     unfolded h k    H_p, the block formula below (16): an s x k block matrix whose block (t, u) is
                     [h(t' + i, u')], t' = 1 - (k-1)/2, u' = u - (k-1)/2 + (t - 1), i over rows and
                     columns of the block
     unfolded_batch  [e, H_1, ..., H_c] for every example, one below the other, (18)

   The proof is index arithmetic: number (i - 1) r + u is division with remainder by r. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.algebra_tactics Require Import ring.
From mathcomp Require Import zify.
From BatchNorm Require Import InnerProduct Convolution.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Numbers.
Variables (r s : nat).

(* The row and the column of the number t, all counted from 0: t = column * r + row. *)
Lemma rows_gt0 (t : 'I_(s * r)) : (0 < r)%N.
Proof. by case: t => t /=; case: r => //; rewrite muln0. Qed.
Lemma column_bound (t : 'I_(s * r)) : (t %/ r < s)%N.
Proof. by rewrite ltn_divLR ?(rows_gt0 t). Qed.
Definition row_of (t : 'I_(s * r)) : 'I_r := Ordinal (ltn_pmod t (rows_gt0 t)).
Definition column_of (t : 'I_(s * r)) : 'I_s := Ordinal (column_bound t).

Lemma number_bound (p : 'I_r * 'I_s) : (p.2 * r + p.1 < s * r)%N.
Proof.
case: p => u i /=; apply: leq_trans (_ : i.+1 * r <= _)%N; last by rewrite leq_mul2r ltn_ord orbT.
by rewrite mulSn addnC ltn_add2r.
Qed.
Definition number (p : 'I_r * 'I_s) : 'I_(s * r) := Ordinal (number_bound p).

Lemma row_of_number p : row_of (number p) = p.1.
Proof. by apply/val_inj; rewrite /= modnMDl modn_small. Qed.
Lemma column_of_number p : column_of (number p) = p.2.
Proof.
apply/val_inj => /=; rewrite divnMDl; first by rewrite divn_small ?addn0.
exact: leq_ltn_trans (leq0n _) (ltn_ord p.1).
Qed.
Lemma number_of t : number (row_of t, column_of t) = t.
Proof. by apply/val_inj; rewrite /= -divn_eq. Qed.

Lemma sum_number (R : rcfType) (F : 'I_r -> 'I_s -> R) :
  \sum_t F (row_of t) (column_of t) = \sum_u \sum_i F u i.
Proof.
rewrite pair_bigA /= (reindex number) /=; last first.
  exists (fun t => (row_of t, column_of t)) => [[u i] _|t _]; last exact: number_of.
  by rewrite row_of_number column_of_number.
by apply: eq_bigr => p _; rewrite row_of_number column_of_number.
Qed.
End Numbers.

Section Unfolding.
Variable R : rcfType.

Definition vec r s (h : 'M[R]_(r, s)) : 'cV[R]_(s * r) := \col_t h (row_of t) (column_of t).

(* t is block row t and row i of the block, q block column u and column j of the block. *)
Definition unfolded r s (h : 'M[R]_(r, s)) k : 'M[R]_(s * r, k * k) := \matrix_(t, q)
  entry h (1 - (half k)%:Z + (row_of t)%:Z + (row_of q)%:Z)
          ((column_of q).+1%:Z - (half k)%:Z + (column_of t)%:Z).

(* One output map of a layer with c input channels: the kernels w and the bias b. *)
Definition layer r s c k (h : 'I_c -> 'M[R]_(r, s)) (w : 'I_c -> 'M[R]_(k, k)) (b : R) :
  'M[R]_(r, s) :=
  \sum_p conv (h p) (w p) + const_mx b.

(* w^ of (17), and of (18) the rows of one example and of the batch. *)
Definition stacked c k (w : 'I_c -> 'M[R]_(k, k)) (b : R) : 'cV[R]_(1 + \sum_(p < c) k * k) :=
  col_mx b%:M (\mxcol_p vec (w p)).
Definition unfolded_example r s c k (h : 'I_c -> 'M[R]_(r, s)) :
  'M[R]_(s * r, 1 + \sum_(p < c) k * k) := row_mx (e (s * r)) (\mxrow_p unfolded (h p) k).
Definition unfolded_batch N r s c k (h : 'I_N -> 'I_c -> 'M[R]_(r, s)) :
  'M[R]_(\sum_(i < N) s * r, 1 + \sum_(p < c) k * k) := \mxcol_i unfolded_example k (h i).
End Unfolding.

Section Proofs.
Variable R : rcfType.

Lemma window_of_place k (x p : nat) : odd k -> (0 < k)%N ->
  x.+1%:Z - k.+1./2%:Z + p.+1%:Z = 1 - (half k)%:Z + x%:Z + p%:Z :> int.
Proof. by rewrite /half; lia. Qed.

Lemma vec_conv r s k (h : 'M[R]_(r, s)) (w : 'M[R]_(k, k)) : odd k ->
  vec (conv h w) = unfolded h k *m vec w.
Proof.
move=> ok; have k0 : (0 < k)%N by case: k ok w.
apply/matrixP => t j; rewrite !ord1 !mxE; under [RHS]eq_bigr do rewrite !mxE.
rewrite (@sum_number _ _ R (fun p q : 'I_k =>
  entry h (1 - (half k)%:Z + (row_of t)%:Z + p%:Z)
          (q.+1%:Z - (half k)%:Z + (column_of t)%:Z) * w p q)).
apply: eq_bigr => p _; apply: eq_bigr => q _; rewrite window_of_place //; congr (entry _ _ _ * _).
by rewrite window_of_place //; lia.
Qed.

Lemma vecD r s (h g : 'M[R]_(r, s)) : vec (h + g) = vec h + vec g.
Proof. by apply/matrixP => t j; rewrite !mxE. Qed.
Lemma vec_const r s (b : R) : vec (const_mx b : 'M[R]_(r, s)) = const_mx b.
Proof. by apply/matrixP => t j; rewrite !mxE. Qed.
Lemma vec_sum r s c (h : 'I_c -> 'M[R]_(r, s)) : vec (\sum_p h p) = \sum_p vec (h p).
Proof.
elim/big_rec2: _ => [|p y z _ <-]; last exact: vecD.
by apply/matrixP => t j; rewrite !mxE.
Qed.

Lemma vec_layer r s c k (h : 'I_c -> 'M[R]_(r, s)) (w : 'I_c -> 'M[R]_(k, k)) b : odd k ->
  vec (layer h w b) = unfolded_example k h *m stacked w b.
Proof.
move=> ok; rewrite /layer vecD vec_const vec_sum mul_row_col mul_mxrow_mxcol addrC; congr (_ + _).
  by rewrite mul_mx_scalar; apply/matrixP => t j; rewrite !mxE mulr1.
by apply: eq_bigr => p _; apply: vec_conv.
Qed.
End Proofs.

(* (16): one channel. *)
Theorem equation_16 (R : rcfType) r s k (h : 'M[R]_(r, s)) (w : 'M[R]_(k, k)) :
  odd k -> vec (conv h w) = unfolded h k *m vec w.
Proof. exact: vec_conv. Qed.

(* Lemma 8: all channels, all examples, and the bias. *)
Theorem lemma_8 (R : rcfType) N r s c k (h : 'I_N -> 'I_c -> 'M[R]_(r, s))
    (w : 'I_c -> 'M[R]_(k, k)) b :
  odd k -> \mxcol_i vec (layer (h i) w b) = unfolded_batch k h *m stacked w b.
Proof.
move=> ok; rewrite /unfolded_batch mxcol_mul; apply: eq_mxcol => i.
exact: vec_layer.
Qed.

(* The entry ((i-1) r + u, (j-1) k + v) of H_p is what w(v, j) is multiplied by in a(u, i): the text
   has w(j, v), its indices interchanged. *)
Theorem lemma_8_entry_corrected (R : rcfType) r s k (h : 'M[R]_(r, s))
    (u : 'I_r) (i : 'I_s) (v j : 'I_k) :
  odd k -> unfolded h k (number (u, i)) (number (v, j)) =
  entry h (u.+1%:Z - k.+1./2%:Z + v.+1%:Z) (i.+1%:Z - k.+1./2%:Z + j.+1%:Z).
Proof.
move=> ok; have k0 : (0 < k)%N by case: k ok v j.
rewrite mxE !row_of_number !column_of_number /= !window_of_place //; congr (entry _ _ _).
by lia.
Qed.

(* The same as an identity in the indices, whatever r, s and k are. *)
Theorem lemma_8_place (R : rcfType) (u v i j k : R) :
  1 - (k - 1) / 2 + u - 1 + v - 1 = u - (k + 1) / 2 + v /\
  j - (k - 1) / 2 + i - 1 = i - (k + 1) / 2 + j.
Proof. by split; field. Qed.

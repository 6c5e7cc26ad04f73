(* How statements are proved.

     identity           proves A = B for numbers       vector_identity   the same for vectors
     nonneg, positive   prove 0 <= a, 0 < a by what a is made of
     nonneg_terms       the same of a sum, term by term
     zero_terms         proves that a sum is 0, whose terms hypotheses say are
     by_certificate r   proves A <= B (or >=, <, >), where the larger - the smaller = r;
                        and A = B, where B - A = r

   Derivatives are replaced by their closed forms (Derivatives.v): what is built of sums, products,
   quotients, powers, roots, inner products, the layer and the loss is differentiated by the rules
   there.  What is left is for the tactic algebra (Algebra.v).  An inequality is reduced to an
   identity, claimed - actual = certificate, and the certificate's terms are seen not to be
   negative.

   Among the hypotheses are (0 < m)%nat, 0 < variance y + eps, and, where a loss is differentiated,
   (twice_)differentiable L (bn gamma beta eps y). *)

From BatchNorm Require Export Algebra Derivatives.
Open Scope R_scope.

(* ---- the setting ---- *)

Lemma positive_size m : (0 < m)%nat -> 0 < INR m. Proof. exact (lt_0_INR m). Qed.
Lemma size_ge_1 m : (0 < m)%nat -> 1 <= INR m.
Proof. intro Hm. change 1 with (INR 1). now apply le_INR. Qed.

Lemma bn_scaled m (y : vec m) gamma beta k :
  0 < INR m -> 0 < k -> 0 < variance y -> bn gamma beta 0 (k *: y)%V = bn gamma beta 0 y.
Proof.
  intros Mpos K P.
  assert (V : variance (k *: y)%V = k * k * variance y).
  { rewrite !variance_dot; unfold centre; rewrite !mean_dot, dot_vscale_r.
    rewrite !dot_vsub_l, !dot_vsub_r, !dot_vscale_l, !dot_vscale_r; field; lra. }
  assert (0 < sqrt (variance y)) by (apply sqrt_lt_R0; exact P).
  apply vec_ext; intro i; unfold bn, normalize, deviation.
  rewrite V, !Rplus_0_r, sqrt_mult, sqrt_square by nra.
  rewrite !mean_dot, dot_vscale_r; unfold vscale; field; lra.
Qed.
Lemma plane_dot m (y a b : vec m) : norm2 (@one m) = 2 -> 0 < variance y ->
  dot a b = dot one a * dot one b / 2
            + dot (centre y) a * dot (centre y) b / (2 * deviation 0 y ^ 2).
Proof.
  intros Two P. rewrite (dot_of_two a b Two P).
  assert (P0 : 0 < variance y + 0) by lra.
  rewrite dot_one_one in Two. assert (Mpos : 0 < INR m) by lra.
  now rewrite (norm2_centre Mpos P0), Two, Rminus_0_r.
Qed.

Lemma squares_zero a b : a ^ 2 + b ^ 2 = 0 -> a = 0 /\ b = 0. Proof. split; nra. Qed.
Lemma quotient_nonneg a b : 0 <= a -> 0 < b -> 0 <= a / b.
Proof. intros A B. apply Rmult_le_pos; [assumption|]. left. now apply Rinv_0_lt_compat. Qed.
Lemma norm2_normalize_le m (y : vec m) eps :
  0 < INR m -> 0 < variance y + eps -> 0 <= eps -> norm2 (normalize eps y) / INR m <= 1.
Proof.
  intros M P E. pose proof (deviation_pos P) as S.
  assert (Q : 0 <= eps / deviation eps y ^ 2)
    by (apply quotient_nonneg; [exact E | apply pow_lt; exact S]).
  rewrite normalize_centre, dot_vscale_l, dot_vscale_r, (norm2_centre M P).
  replace (1 / deviation eps y * (1 / deviation eps y * (INR m * (deviation eps y ^ 2 - eps))) / INR m)
    with (1 - eps / deviation eps y ^ 2) by (field; split; lra).
  lra.
Qed.
Lemma share_bounds a : 0 < a -> 0 < 1 / (1 + a) /\ 0 < (1 / (1 + a)) ^ 2 /\ (1 / (1 + a)) ^ 2 < 1.
Proof.
  intro P. assert (B : 0 < 1 / (1 + a)) by (apply Rdiv_lt_0_compat; lra).
  assert (1 / (1 + a) < 1) by (apply (Rmult_lt_reg_r (1 + a)); [lra | field_simplify; lra]).
  nra.
Qed.
(* A number a that occurs in 1 / (1 + a) alone: a letter between 0 and 1 stands for the latter. *)
Ltac shares :=
  repeat match goal with P : 0 < ?a |- context [1 / (1 + ?a)] =>
    let B := fresh "B" in let k := fresh "k" in
    pose proof (share_bounds a P) as B; set (k := 1 / (1 + a)) in *;
    lazymatch goal with |- context [a] => fail | _ => clearbody k; destruct B as [? [? ?]] end
  end.
(* A unit, for statements that are of none. *)
Lemma some_batch m : (0 < m)%nat -> exists (y : vec m) (eps : R), 0 < variance y + eps.
Proof.
  intro M; exists one, 1. pose proof (variance_nonneg (lt_0_INR m M) (@one m)). lra.
Qed.

(* A factor of what is not zero, under a root or not. *)
Ltac factor_of_nonzero :=
  let Z := fresh "Z" in intro Z;
  match goal with N : ?e <> 0 |- _ =>
    apply N; rewrite !Z; rewrite ?Rmult_0_l, ?Rmult_0_r, ?sqrt_0; reflexivity end.

(* What the hypotheses of a statement say of m, sigma, the variance, eps, and of zeros. *)
Ltac facts :=
  repeat match goal with x := _ |- _ => subst x end;
  shares;
  repeat match goal with D : _ (?z + ?a *: (?y - ?y))%V |- _ => rewrite (unmoved _ z y a) in D end;
  repeat match goal with H : ?a ^ 2 + ?b ^ 2 = 0 |- _ =>
    lazymatch goal with _ : a = 0 |- _ => fail | _ => idtac end;
    destruct (squares_zero a b H)
  end;
  repeat match reverse goal with H : 0 < variance ?y |- _ =>
    lazymatch goal with _ : 0 < variance y + 0 |- _ => fail | _ => idtac end;
    assert (0 < variance y + 0) by lra
  end;
  repeat match goal with P : 0 < @variance ?m ?y + ?eps, Hm : (0 < ?m)%nat |- _ =>
    lazymatch goal with _ : 0 < deviation eps y |- _ => fail | _ => idtac end;
    lazymatch goal with
    | _ : 0 < INR m |- _ => idtac
    | _ => pose proof (positive_size m Hm); pose proof (size_ge_1 m Hm)
  end;
    lazymatch goal with Mpos : 0 < INR m |- _ =>
      pose proof (deviation_pos P); pose proof (deviation_ge Mpos P);
      try (assert (0 <= eps) as E by (first [assumption | lra]);
           pose proof (norm2_normalize_le m y eps Mpos P E); clear E) end
  end;
  try match goal with E : 0 <= ?eps, Z : ?eps <> 0 |- _ => assert (0 < eps) by lra end.

(* ---- rules of differentiation ---- *)

Ltac nonzero_part :=
  first [ assumption | lra | apply Rgt_not_eq; assumption
        | match goal with P : 0 < variance ?y + ?e |- deviation ?e ?y <> 0 =>
            exact (Rgt_not_eq _ _ (deviation_pos P)) end
        | apply pow_nonzero; nonzero_part ].
Lemma root_pos a : sqrt a <> 0 -> 0 < a.
Proof.
  intro N. apply Rnot_le_lt. intro P. apply N. now apply sqrt_neg_0.
Qed.

Lemma v_centre m (f : R -> vec m) d : vder f d -> vder (fun t => centre (f t)) (centre d).
Proof.
  intros D i. unfold centre, vsub, vscale, one. apply s_sub; [exact (D i)|].
  eapply sder_eq; [apply s_mul; [apply (s_mean D) | apply s_const] | cbv beta; ring].
Qed.

(* The conditions under which a rule of differentiation holds. *)
Ltac condition :=
  cbv beta; rewrite ?move0, ?unmoved;
  first [ assumption | lra
        | match goal with D : twice_differentiable ?L _ |- differentiable ?L _ =>
            exact (twice_once D) end
        | apply root_pos; assumption
        | repeat apply Rmult_integral_contrapositive_currified; nonzero_part ].

Ltac rule :=
  cbv beta;
  lazymatch goal with
  | |- sder (fun _ => ?c) _ => apply s_const
  | |- sder (fun t => @?f t + @?g t) _ => eapply s_add; rule
  | |- sder (fun t => @?f t - @?g t) _ => eapply s_sub; rule
  | |- sder (fun t => - @?f t) _ => eapply s_opp; rule
  | |- sder (fun t => @?f t * @?g t) _ => eapply s_mul; rule
  | |- sder (fun t => @?f t / @?g t) _ => eapply s_div; [rule | rule | condition]
  | |- sder (fun t => @?f t ^ 2) _ => eapply s_square; rule
  | |- sder (fun t => @?f t ^ ?n) _ => eapply s_pow; rule
  | |- sder (fun t => sqrt (@?f t)) _ => eapply s_sqrt; [rule | condition]
  | |- sder (fun t => dot (@?f t) (@?g t)) _ => eapply s_dot; rule
  | |- sder (fun t => sum (@?f t)) _ => eapply s_sum; rule
  | |- sder (fun t => mean (@?f t)) _ => eapply s_mean; rule
  | |- sder (fun t => deviation ?e (@?f t)) _ =>
      eapply s_deviation; [condition | condition | rule]
  | |- sder (fun t => along (fun x => ?L (bn ?g ?b ?e x)) (@?f t) (@?w t)) _ =>
      eapply s_along_bn;
        [condition | condition | rule | condition
        | unfold jacobian, normalize_jacobian, project; rule]
  | |- sder (fun t => along ?L (@?f t) (@?w t)) _ =>
      first
      [ is_var L; eapply s_along_loss; [rule | condition | rule]
      | (* of a function that itself depends on t, its derivative in closed form *)
        eapply s_ext;
          [ let t := fresh "t" in intro t; symmetry; apply along_is; rule
          | cbv beta; rewrite ?move0; rule ] ]
  | |- sder (fun t => ?L (@?f t)) _ => is_var L; eapply s_loss; [rule | condition]
  | |- vder (fun _ => ?c) _ => apply v_const
  | |- vder (fun t => move ?y ?u t) _ => apply v_move
  | |- vder (move ?y ?u) _ => apply v_move
  | |- vder (fun t => vadd (@?f t) (@?g t)) _ => eapply v_add; rule
  | |- vder (fun t => vsub (@?f t) (@?g t)) _ => eapply v_sub; rule
  | |- vder (fun t => vscale (@?f t) (@?g t)) _ => eapply v_scale; rule
  | |- vder (fun t => centre (@?f t)) _ => eapply v_centre; rule
  | |- vder (fun t => normalize ?e (@?f t)) _ =>
      eapply v_normalize; [condition | condition | rule]
  | |- vder (fun t => bn ?g ?b ?e (@?f t)) _ => eapply v_bn; [condition | condition | rule]
  | |- vder (fun t => valong (normalize ?e) (@?f t) (@?w t)) _ =>
      eapply v_valong_normalize;
        [condition | condition | rule | unfold normalize_jacobian, project; rule]
  | |- vder (fun t => valong (bn ?g ?b ?e) (@?f t) (@?w t)) _ =>
      eapply v_valong_bn;
        [condition | condition | rule | unfold jacobian, normalize_jacobian, project; rule]
  | |- vder (fun t => gradient (fun x => ?L (bn ?g ?b ?e x)) (@?f t)) _ =>
      eapply v_gradient_bn;
        [condition | condition | rule | condition
        | unfold jacobian, normalize_jacobian, project; rule]
  | |- vder (fun t => gradient ?L (@?f t)) _ =>
      is_var L; eapply v_gradient_loss; [rule | condition]
  | |- vder (fun t => hessian ?L ?z (@?w t)) _ =>
      is_var L; eapply v_hessian; [rule | condition]
  end.

Ltac differentiability L :=
  match goal with
  | D : twice_differentiable L _ |- _ => constr:(twice_once D)
  | D : differentiable L _ |- _ => constr:(D)
  end.

(* ---- derivatives in closed form ---- *)

(* A number D that is linear in u is <a, u>; the vector a.  Likewise <V, b> = <a, u>. *)
Ltac functional u D :=
  lazymatch D with
  | context [u] =>
    lazymatch D with
    | ?a + ?b => let a := functional u a in let b := functional u b in constr:((a + b)%V)
    | ?a - ?b => let a := functional u a in let b := functional u b in constr:((a - b)%V)
    | - ?a => let a := functional u a in constr:((-1 *: a)%V)
    | ?a * ?b =>
      lazymatch a with
      | context [u] => let a := functional u a in constr:((b *: a)%V)
      | _ => let b := functional u b in constr:((a *: b)%V)
      end
    | ?a / ?b => let a := functional u a in constr:((1 / b *: a)%V)
    | @mean ?m ?a => adjoint u a constr:((1 / INR m *: @one m)%V)
    | @sum ?m ?a => adjoint u a constr:(@one m)
    | dot ?a ?b => lazymatch a with context [u] => adjoint u a b | _ => adjoint u b a end
    end
  | _ => match type of u with vec ?m => constr:((0 *: @one m)%V) end
  end
with adjoint u V b :=
  lazymatch V with
  | u => b
  | context [u] =>
    lazymatch V with
    | vadd ?x ?y => let x := adjoint u x b in let y := adjoint u y b in constr:((x + y)%V)
    | vsub ?x ?y => let x := adjoint u x b in let y := adjoint u y b in constr:((x - y)%V)
    | vscale ?s ?x =>
      lazymatch s with
      | context [u] => let s := functional u s in constr:((dot x b *: s)%V)
      | _ => let x := adjoint u x b in constr:((s *: x)%V)
      end
    | valong (gradient ?L) ?z ?x => adjoint u x constr:(valong (gradient L) z b)
    end
  | _ => match type of u with vec ?m => constr:((0 *: @one m)%V) end
  end.
(* Proves D = <?a, u>, finding a. *)
Ltac linear_in u :=
  unfold centre, jacobian, normalize_jacobian, project;
  lazymatch goal with |- ?D = dot ?a u => let v := functional u D in unify a v end;
  algebra.

Ltac close_derivatives :=
  repeat match goal with
  | Mpos : 0 < INR ?m, P : 0 < @variance ?m ?y + ?e, D : twice_differentiable ?L _
      |- context [hessian (fun x => ?L (bn ?g ?b ?e x)) ?y ?u] =>
        rewrite (@equation_41_42 _ L g b e y u Mpos P D); unfold hessian_form, centre
  | Mpos : 0 < INR ?m, P : 0 < @variance ?m ?y + ?e
      |- context [gradient (fun x => ?L (bn ?g ?b ?e x)) ?y] =>
        let D := differentiability L in rewrite (@gradient_through _ g b e y Mpos P L D)
  | Mpos : 0 < INR ?m, P : 0 < @variance ?m ?y + ?e
      |- context [along (fun x => ?L (bn ?g ?b ?e x)) ?y ?u] =>
        let D := differentiability L in rewrite (@along_through _ g b e y Mpos P L u D)
  | D : differentiable ?L ?z |- context [along ?L ?z ?u] => rewrite (@along_gradient _ L z u D)
  | D : twice_differentiable ?L ?z |- context [along ?L ?z ?u] =>
        rewrite (@along_gradient _ L z u (twice_once D))
  | Mpos : 0 < INR ?m, P : 0 < @variance ?m ?y + ?e
      |- context [valong (bn ?g ?b ?e) ?y ?u] =>
        rewrite (@valong_bn _ g b e y Mpos P u)
  | Mpos : 0 < INR ?m, P : 0 < @variance ?m ?y + ?e
      |- context [valong (normalize ?e) ?y ?u] => rewrite (@valong_normalize _ e y Mpos P u)
  end;
  repeat match goal with
  | |- context [along ?F ?y ?u] =>
      let E := fresh in
      eassert (E : sder (fun t => F (move y u t)) _) by rule;
      apply along_is in E; cbv beta in E; rewrite ?move0 in E; rewrite E; clear E
  | |- context [valong ?F ?y ?u] =>
      lazymatch F with gradient ?L => fail | _ => idtac end;
      let E := fresh in
      eassert (E : vder (fun t => F (move y u t)) _) by rule;
      apply valong_is in E; cbv beta in E; rewrite ?move0 in E; rewrite E; clear E
  end;
  repeat match goal with
  | |- context [gradient ?F ?y] =>
      tryif is_var F then fail else idtac;
      let E := fresh in
      eassert (E : gradient F y = _)
        by (apply gradient_is; let u := fresh "u" in intro u;
            eapply sder_eq; [rule | cbv beta; rewrite ?move0; linear_in u]);
      rewrite E; clear E
  end;
  repeat match goal with K : 0 < ?k, P : 0 < variance ?y, Mpos : 0 < INR ?m
      |- context [bn ?g ?b 0 (?k *: ?y)%V] => rewrite (bn_scaled m y g b k Mpos K P) end;
  rewrite ?unmoved; unfold jacobian, normalize_jacobian, project.

(* ---- the tactics of statements ---- *)

(* What hypotheses say are equal: differences that vanish. *)
Ltac equations :=
  repeat match goal with Z : @eq R ?a ?b |- _ =>
    lazymatch type of Z with norm2 (_ - _)%V = 0 => fail | _ => idtac end;
    lazymatch type of Z with context [@dot] => idtac | context [@mean] => idtac | context [@variance] => idtac end;
    lazymatch goal with _ : vanishes (a - b) |- _ => fail | _ => pose proof (vanishes_of a b Z) end
  end.
(* Of two examples: inner products are those of a plane; the gradient's is told, and the goal's. *)
Ltac of_two :=
  try (match goal with Z : norm2 (@one ?m) = 2, P : 0 < variance ?y |- norm2 ?V = 0 =>
    rewrite (plane_dot m y V V Z P);
    try (match goal with u : vec m, D : twice_differentiable ?L ?z |- _ =>
      tryif constr_eq u y then fail else
      pose proof (vanishes_of _ _ (plane_dot m y u (gradient L z) Z P)) end)
  end).
(* What identity does once the hypotheses are told; a certificate contains what it needs of them. *)
Ltac difference :=
  repeat match goal with
  | Z : ?e <> 0 |- _ => match e with context [gradient (fun _ => _) _] => revert Z end
  | Z : vanishes _ |- _ => revert Z end;
  close_derivatives; intros; algebra.
Ltac identity := facts; of_two; equations; difference.
(* Where a hypothesis says that two vectors are one, and nothing else is needed. *)
Ltac same :=
  repeat match goal with x := _ |- _ => subst x end;
  match goal with H : norm2 (_ - _)%V = 0 |- _ =>
    rewrite (same_vector _ _ _ H); reflexivity end.
Ltac vector_identity :=
  first [same | apply vec_eq; let w := fresh "w" in intro w; identity].

Lemma dot_positive m (a : vec m) : norm2 a <> 0 -> 0 < norm2 a.
Proof. intro N. destruct (dot_pos a) as [|E]; [assumption|]. now elim N. Qed.
Lemma square_pos a : a <> 0 -> 0 < a ^ 2.
Proof. intro N. pose proof (Rsqr_pos_lt a N) as S. unfold Rsqr in S. lra. Qed.
Lemma pow_even_nonneg a n : 0 <= a ^ (2 * n).
Proof. rewrite pow_mult. apply pow_le, pow2_ge_0. Qed.

Lemma positive_of a : 0 <= a -> a <> 0 -> 0 < a.
Proof. intros [P | E] N; [exact P | now elim N]. Qed.

Ltac positive :=
  first
  [ assumption | lra
  | match goal with
    | |- 0 < ?a * ?b => apply Rmult_lt_0_compat; positive
    | |- 0 < ?a / ?b => apply Rdiv_lt_0_compat; positive
    | Z : ?a <> 0 |- 0 < ?a ^ 2 => exact (square_pos a Z)
    | |- 0 < ?a ^ _ => apply pow_lt; positive
    | |- 0 < ?a ^ 2 => apply square_pos; assumption
    | |- 0 < ?a + ?b => apply Rplus_lt_0_compat; positive
    | |- 0 < dot ?a ?a => apply dot_positive; assumption
    | |- 0 < sqrt _ => apply sqrt_lt_R0; positive
    | Z : ?e <> 0 |- 0 < ?e => apply (positive_of e); [nonneg | exact Z]
    end ]
with nonneg :=
  first
  [ assumption | lra | apply pow2_ge_0 | apply (pow_even_nonneg _ 2)
  | apply (pow_even_nonneg _ 3) | apply dot_pos | apply Rabs_pos | apply norm_ge0
  | match goal with
    | |- 0 <= ?a * ?b => apply Rmult_le_pos; nonneg
    | |- 0 <= ?a / ?b => apply quotient_nonneg; [nonneg | positive]
    | |- 0 <= ?a ^ _ => apply pow_le; nonneg
    | |- 0 <= variance _ => apply variance_nonneg; assumption
    | |- 0 <= ?a + ?b => apply Rplus_le_le_0_compat; nonneg
    | |- 0 <= sqrt _ => apply sqrt_pos
    end
  | left; positive | nra ].

(* A sum whose terms have factors that hypotheses say are zero. *)
Ltac zero_terms :=
  repeat match goal with Q : 0 = ?q |- context [?q] => rewrite <- !Q end; unfold Rdiv; ring.
(* A term with a factor that a hypothesis says is zero. *)
Ltac vanishing :=
  match goal with Q : 0 = ?q |- context [?q] =>
    rewrite <- Q, ?Rmult_0_r, ?Rmult_0_l; lra end.
Ltac nonneg_terms :=
  lazymatch goal with
  | |- 0 <= ?a + ?b => apply Rplus_le_le_0_compat; nonneg_terms
  | |- 0 < ?a + ?b =>
      first [ apply Rplus_lt_le_0_compat; [nonneg_terms | nonneg_terms]
            | apply Rplus_le_lt_0_compat; [nonneg_terms | nonneg_terms]
            | positive ]
  | |- 0 <= _ => first [vanishing | nonneg]
  | |- 0 < _ => positive
  end.

Lemma certified_le A B r : B - A = r -> 0 <= r -> A <= B. Proof. lra. Qed.
Lemma certified_ge A B r : A - B = r -> 0 <= r -> A >= B. Proof. lra. Qed.
Lemma certified_lt A B r : B - A = r -> 0 < r -> A < B. Proof. lra. Qed.
Lemma certified_gt A B r : A - B = r -> 0 < r -> A > B. Proof. lra. Qed.
Lemma certified_eq A B r : B - A = r -> r = 0 -> A = B. Proof. lra. Qed.

(* The larger side minus the smaller is r; that r has its sign is left to prove.  Of an equation the
   right side minus the left is r, and that r is zero is left. *)
Ltac by_certificate r :=
  lazymatch goal with
  | |- ?A = ?B => apply (certified_eq A B r)
  | |- ?A <= ?B => apply (certified_le A B r)
  | |- ?A >= ?B => apply (certified_ge A B r)
  | |- ?A < ?B => apply (certified_lt A B r)
  | |- ?A > ?B => apply (certified_gt A B r)
  end; facts; [difference | ].
